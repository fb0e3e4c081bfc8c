/**
 * Who this client is to an authorization server: where its client id comes from.
 *
 * In order (M-AUTH-14): a client you registered by hand for the issuer, the URL of your client id metadata document
 * where the server takes one, and dynamic registration. Registered clients are kept in the `TokenStore` by issuer and
 * never shown to another one.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Reason } from "./AuthorizationError.ts"
import type { AuthorizationServer } from "./AuthorizationServer.ts"
import type { ClientAssertion } from "./ClientAssertion.ts"
import * as Dynamic from "./internal/authorization/dynamicRegistration.ts"

/**
 * A client as the token endpoint knows it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Client {
  readonly clientId: string
  readonly secret?: Redacted.Redacted | undefined
  /** Signs instead of a secret (`private_key_jwt`). */
  readonly assertion?: ClientAssertion | undefined
  /** How it authenticates, where that was agreed; else it follows from the server's metadata. */
  readonly authMethod?: string | undefined
  /** Addresses it was registered with; any when absent. */
  readonly redirectUris?: ReadonlyArray<string> | undefined
  /** When the secret ends, in milliseconds of the epoch. */
  readonly secretExpiresAt?: number | undefined
}

/**
 * A client that was registered by hand.
 *
 * Name its `issuer` where you can. Without it the client is bound to the first issuer it is used with, and refused to
 * any other (M-AUTH-19).
 *
 * @category models
 * @since 0.1.0
 */
export interface PreRegistered extends Omit<Client, "secretExpiresAt"> {
  readonly issuer?: string
}

/**
 * What this client tells about itself when it registers.
 *
 * @category models
 * @since 0.1.0
 */
export interface Introduction {
  /** Shown to the user on the consent page. `mcp-effect` by default. */
  readonly clientName?: string
  readonly clientUri?: string
  readonly logoUri?: string
  readonly softwareId?: string
  readonly softwareVersion?: string
  /** By default `native` where the redirect address is a loopback, else `web` (M-AUTH-17). */
  readonly applicationType?: "native" | "web"
}

/**
 * What a registration needs to know, and the way to send it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Registering {
  readonly authorizationServer: AuthorizationServer
  readonly redirectUri: string
  readonly scope: string | undefined
  /** Posts JSON to an address, within the policy for addresses and the bounds. */
  readonly post: (
    address: string,
    body: Readonly<Record<string, unknown>>
  ) => Effect.Effect<{ readonly status: number; readonly json: unknown }, Reason>
}

/**
 * The service.
 *
 * `known` answers without asking anybody; `register` is called when nothing is known or stored, and fails with
 * `ClientIdNeeded` when it does not register.
 *
 * @category services
 * @since 0.1.0
 */
export class ClientRegistration extends Context.Service<
  ClientRegistration,
  {
    readonly known: (server: AuthorizationServer) => Effect.Effect<Known | undefined, Reason>
    readonly register: (registering: Registering) => Effect.Effect<Client, Reason>
  }
>()("@mcp-effect/client/ClientRegistration") {}

/**
 * A client that needs no registration now.
 *
 * @category models
 * @since 0.1.0
 */
export interface Known {
  readonly client: Client
  /** Whether it has to be bound to the first issuer it is used with. */
  readonly bind: boolean
}

/**
 * The address of a client id metadata document must be https with a path (A-4-1).
 *
 * What to change: host the document at an https address with a path, without fragment, user name and password.
 *
 * @category errors
 * @since 0.1.0
 */
export class ClientDocumentInvalid extends Schema.TaggedError<ClientDocumentInvalid>()("ClientDocumentInvalid", {
  document: Schema.String
}) {
  override get message() {
    return `a client id metadata document needs an https URL with a path, without fragment, user name and password; got ${JSON.stringify(this.document)}`
  }
}

/**
 * How to make the service.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Clients registered by hand, at most one for an issuer. */
  readonly preRegistered?: ReadonlyArray<PreRegistered>
  /** The https URL of the client id metadata document: it is the client id. */
  readonly document?: string
  /** Signs for the client of the document, where it says `private_key_jwt`. */
  readonly documentAssertion?: ClientAssertion
  /** What to say at dynamic registration; `false` never registers. */
  readonly dynamic?: Introduction | false
}

const isDocumentAddress = (address: string): boolean => {
  const parsed = Result.try(() => new URL(address))
  if (Result.isFailure(parsed)) return false
  const { hash, password, pathname, protocol, username } = parsed.success
  return protocol === "https:" && pathname !== "/" && hash === "" && username === "" && password === ""
}

/**
 * Makes the service; fails where the document's address cannot be a client id.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<ClientRegistration["Service"], ClientDocumentInvalid> {
  const { document, documentAssertion: assertion, dynamic = {}, preRegistered = [] } = options
  if (document !== undefined && !isDocumentAddress(document)) return yield* new ClientDocumentInvalid({ document })
  return ClientRegistration.of({
    known: ({ clientIdMetadataDocument, issuer }) => {
      const client =
        preRegistered.find((one) => one.issuer === issuer) ?? preRegistered.find((one) => one.issuer === undefined)
      if (client !== undefined) return Effect.succeed({ client, bind: client.issuer === undefined })
      return document !== undefined && clientIdMetadataDocument
        ? Effect.succeed({ client: { clientId: document, assertion }, bind: false })
        : Effect.undefined
    },
    register: (registering) => Dynamic.register(registering, dynamic)
  })
})

/**
 * The service as a layer.
 *
 * @example
 * ```ts
 * ClientRegistration.layer({ document: "https://example.com/mcp-client.json", dynamic: { clientName: "Example" } })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<ClientRegistration, ClientDocumentInvalid> =>
  Layer.effect(ClientRegistration, make(options))
