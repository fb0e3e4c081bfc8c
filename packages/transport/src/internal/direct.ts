/**
 * What the client of `NodeHttp` offers, beyond an `HttpClient`, to the wires of this package.
 *
 * Wires read or give up every body and interrupt every request, so they need neither the guard around each response nor a
 * stream around each body. Hooks and other transforms make another client, and wrapped responses are other responses: all
 * of these go the ordinary way.
 */
import type { HttpClient } from "effect/http/HttpClient"
import * as Inspectable from "effect/Inspectable"

/** How a body ended. */
export type End = { readonly _tag: "Whole" } | { readonly _tag: "Broken"; readonly cause: unknown }

/** Gets a body as it comes. Called synchronously; must not throw. */
export interface Listener {
  readonly chunk: (bytes: Uint8Array) => void
  readonly end: (end: End) => void
}

/** A body that is pushed. */
export interface Body {
  /** Pushes what is there and what comes; true to the one reader that a body has. */
  readonly listen: (listener: Listener) => boolean
  /** Gives the request up; nothing is heard of it any more. */
  readonly abort: () => void
}

/** A response that knows its body. */
export abstract class Direct<B extends Body> extends Inspectable.Class {
  readonly #body: B

  constructor(body: B) {
    super()
    this.#body = body
  }

  /** The body of a response that nobody has wrapped. */
  static bodyOf(response: object): Body | undefined {
    return #body in response ? response.#body : undefined
  }

  protected get body(): B {
    return this.#body
  }
}

const clients = new WeakMap<HttpClient, HttpClient["execute"]>()

export const offer = (client: HttpClient, execute: HttpClient["execute"]): HttpClient => {
  clients.set(client, execute)
  return client
}

/** The shortest way to send a request with a client. */
export const executeOf = (client: HttpClient): HttpClient["execute"] => clients.get(client) ?? client.execute

/** Whether requests of a client go the shortest way, unless somebody traces them. */
export const isDirect = (client: HttpClient): boolean => clients.has(client)
