/**
 * One HTTP request over a dispatcher of undici.
 *
 * The body of the response is held, up to a bound, until somebody reads it: pushed to a listener, which costs nothing per
 * chunk, collected, or pulled by a stream, which makes the server wait for a slow reader.
 */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import type { Dispatcher } from "undici"
import type { Body, End, Listener } from "./direct.ts"

/** How much of a body may wait for its reader, in bytes, before the server has to. */
const highWater = 64 * 1024

/** What came of collecting a body. */
export type Collected = Exclude<End, { _tag: "Whole" }> | { readonly _tag: "Whole"; readonly bytes: Uint8Array }

/** What a response begins with. */
export interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  readonly body: Exchange
}

const readAlready: End = { _tag: "Broken", cause: new Error("the body is being read, or was read as a stream") }

/** Gives up what was answered to somebody who was gone by then. */
const forgotten = new FinalizationRegistry<Exchange>((exchange) => exchange.abort())

/** One request, from its start to the end of the response's body. */
export class Exchange implements Body, Dispatcher.DispatchHandler {
  readonly #started: (head: Head) => object
  readonly #failed: (cause: unknown) => void
  #controller: Dispatcher.DispatchController | undefined
  #answered = false
  #end: End | undefined
  #held: Array<Uint8Array> = []
  #heldBytes = 0
  #listener: Listener | undefined
  #taken = false
  #whole: Uint8Array | undefined

  /** `started` gives back what stands for the response. */
  constructor(started: (head: Head) => object, failed: (cause: unknown) => void) {
    this.#started = started
    this.#failed = failed
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // Given up while it waited for a connection.
    if (this.#end !== undefined) controller.abort(givenUp)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Head["headers"]): void {
    // What is below 200 comes before the response.
    if (status < 200) return
    this.#answered = true
    const response = this.#started({ status, headers, body: this })
    if (!this.#taken && this.#end === undefined) forgotten.register(response, this)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#listener !== undefined) return this.#listener.chunk(chunk)
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes >= highWater) controller.pause()
  }

  onResponseEnd(): void {
    this.#over({ _tag: "Whole" })
  }

  onResponseError(_: unknown, cause: Error): void {
    if (this.#end !== undefined) return
    this.#over({ _tag: "Broken", cause })
    if (!this.#answered) this.#failed(cause)
  }

  #over(end: End): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#listener?.end(end)
  }

  abort(): void {
    if (this.#end !== undefined) return
    this.#end = { _tag: "Broken", cause: givenUp }
    this.#listener = undefined
    this.#held = []
    if (this.#controller?.aborted === false) this.#controller.abort(givenUp)
  }

  listen(listener: Listener): boolean {
    if (this.#taken) {
      listener.end(readAlready)
      return false
    }
    this.#taken = true
    this.#listener = listener
    const held = this.#held
    this.#held = []
    for (const chunk of held) {
      listener.chunk(chunk)
      if (this.#listener !== listener) return true
    }
    if (this.#end !== undefined) listener.end(this.#end)
    else this.#resume()
    return true
  }

  #resume(): void {
    if (this.#controller?.paused === true) this.#controller.resume()
  }

  /** Gives the whole body, more than once if asked for; the effect given back gives the request up. */
  collect(done: (end: Collected) => void): Effect.Effect<void> {
    if (this.#whole !== undefined) done({ _tag: "Whole", bytes: this.#whole })
    else {
      const chunks: Array<Uint8Array> = []
      this.listen({
        chunk: (bytes) => void chunks.push(bytes),
        end: (end) => {
          if (end._tag === "Broken") return done(end)
          const [first] = chunks
          this.#whole = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)
          done({ _tag: "Whole", bytes: this.#whole })
        }
      })
    }
    return Effect.sync(() => this.abort())
  }

  /** The body as chunks, pulled; a reader that stops early gives the request up. */
  channel<E>(failure: (cause: unknown) => E): Channel.Channel<Arr.NonEmptyArray<Uint8Array>, E> {
    return Channel.fromTransform((_, scope) =>
      Effect.suspend(() => {
        let waiting: Array<Uint8Array> = []
        let bytes = 0
        let end: End | undefined
        let wake: (() => void) | undefined
        const next = (): Pull.Pull<Arr.NonEmptyArray<Uint8Array>, E> | undefined => {
          const chunks = waiting
          if (Arr.isArrayNonEmpty(chunks)) {
            waiting = []
            bytes = 0
            return Effect.succeed(chunks)
          }
          if (end === undefined) return undefined
          return end._tag === "Whole" ? Cause.done() : Effect.fail(failure(end.cause))
        }
        const pull: Pull.Pull<Arr.NonEmptyArray<Uint8Array>, E> = Effect.suspend(
          () =>
            next() ??
            Effect.callback<Arr.NonEmptyArray<Uint8Array>, E | Cause.Done>((resume) => {
              wake = () => {
                const found = next()
                if (found === undefined) return
                wake = undefined
                resume(found)
              }
              this.#resume()
              return Effect.sync(() => {
                wake = undefined
              })
            })
        )
        const ours = this.listen({
          chunk: (chunk) => {
            waiting.push(chunk)
            bytes += chunk.length
            if (bytes >= highWater) this.#controller?.pause()
            wake?.()
          },
          end: (over) => {
            end = over
            wake?.()
          }
        })
        if (!ours) return Effect.succeed(pull)
        return Effect.as(
          Scope.addFinalizer(
            scope,
            Effect.sync(() => this.abort())
          ),
          pull
        )
      })
    )
  }
}

const givenUp = new Error("the request was given up")
