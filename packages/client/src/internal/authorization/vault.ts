/**
 * Grants and registered clients in the `TokenStore`. What cannot be read counts as absent and is reported; what cannot
 * be written stays in memory and is reported.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { AuthorizationNotice, type Report } from "../../AuthorizationNotice.ts"
import type { Client } from "../../ClientRegistration.ts"
import type { TokenStore, TokenStoreError } from "../../TokenStore.ts"

/** A token in use, with everything needed to renew it and to tell whose it is. */
export interface Grant {
  readonly issuer: string
  readonly resource: string
  readonly clientId: string | undefined
  readonly accessToken: Redacted.Redacted
  readonly tokenType: "Bearer" | "DPoP"
  readonly refreshToken: Redacted.Redacted | undefined
  /** When the access token ends, and from when it is renewed ahead; milliseconds of the epoch. */
  readonly expiresAt: number | undefined
  readonly renewAt: number | undefined
  /** What was granted, where the server said so. */
  readonly granted: string | undefined
  /** All that was ever requested for this server. */
  readonly requested: string | undefined
  /** The key a DPoP token is bound to. */
  readonly thumbprint: string | undefined
}

const text = Schema.optionalKey(Schema.String)
const moment = Schema.optionalKey(Schema.Finite)

const StoredGrant = Schema.fromJsonString(
  Schema.Struct({
    issuer: Schema.String,
    resource: Schema.String,
    clientId: text,
    accessToken: Schema.String,
    tokenType: Schema.Literals(["Bearer", "DPoP"]),
    refreshToken: text,
    expiresAt: moment,
    renewAt: moment,
    granted: text,
    requested: text,
    thumbprint: text
  })
)

const StoredClient = Schema.fromJsonString(
  Schema.Struct({
    clientId: Schema.String,
    secret: text,
    authMethod: text,
    redirectUris: Schema.optionalKey(Schema.Array(Schema.String)),
    secretExpiresAt: moment
  })
)

const grantFrom = Schema.decodeUnknownResult(StoredGrant)
const clientFrom = Schema.decodeUnknownResult(StoredClient)

const hide = (value: string | undefined) => (value === undefined ? undefined : Redacted.make(value))
const reveal = (value: Redacted.Redacted | undefined) => (value === undefined ? undefined : Redacted.value(value))

export interface Vault {
  readonly grant: Effect.Effect<Grant | undefined>
  /** False when it could not be stored, which was reported. */
  readonly setGrant: (grant: Grant) => Effect.Effect<boolean>
  readonly removeGrant: Effect.Effect<void>
  /** A client registered with this issuer, by itself. */
  readonly client: (issuer: string) => Effect.Effect<Client | undefined>
  readonly setClient: (issuer: string, client: Client) => Effect.Effect<void>
  readonly removeClient: (issuer: string) => Effect.Effect<void>
  /** The issuer a client without a configured one belongs to. */
  readonly binding: (clientId: string) => Effect.Effect<string | undefined>
  readonly bind: (clientId: string, issuer: string) => Effect.Effect<void>
  /** Excludes other processes, where the store can. */
  readonly exclusively: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export interface Place {
  readonly store: TokenStore["Service"]
  readonly report: Report
  /** The canonical URL of the server. */
  readonly server: string
  /** Keeps several users of one server apart. */
  readonly account: string | undefined
}

export const make = ({ account, report, server, store }: Place): Vault => {
  const owner = account === undefined ? "" : ` of ${account}`
  const grantKey = `grant${owner} ${server}`
  const clientKey = (issuer: string) => `client${owner} ${issuer}`
  const bindingKey = (clientId: string) => `binding ${clientId}`

  const unreadable = (because: string) => report(AuthorizationNotice.StoreUnreadable({ because }))
  const read = (key: string) =>
    store.get(key).pipe(
      Effect.map(reveal),
      Effect.catch((error) => Effect.as(unreadable(error.message), undefined))
    )
  const decoded = <A>(key: string, decode: (text: string) => Result.Result<A, unknown>) =>
    Effect.flatMap(read(key), (stored) => {
      if (stored === undefined) return Effect.undefined
      const value = decode(stored)
      return Result.isSuccess(value)
        ? Effect.succeed(value.success)
        : Effect.as(unreadable(`the entry ${JSON.stringify(key)} has another form`), undefined)
    })
  const write = (effect: Effect.Effect<void, TokenStoreError>) =>
    Effect.matchEffect(effect, {
      onFailure: ({ message }) => Effect.as(report(AuthorizationNotice.TokenNotStored({ because: message })), false),
      onSuccess: () => Effect.succeed(true)
    })
  const put = (key: string, value: object) => write(store.set(key, Redacted.make(JSON.stringify(value))))

  return {
    grant: Effect.map(decoded(grantKey, grantFrom), (stored) =>
      stored === undefined
        ? undefined
        : {
            issuer: stored.issuer,
            resource: stored.resource,
            clientId: stored.clientId,
            accessToken: Redacted.make(stored.accessToken),
            tokenType: stored.tokenType,
            refreshToken: hide(stored.refreshToken),
            expiresAt: stored.expiresAt,
            renewAt: stored.renewAt,
            granted: stored.granted,
            requested: stored.requested,
            thumbprint: stored.thumbprint
          }
    ),
    setGrant: (grant) =>
      put(grantKey, {
        ...grant,
        accessToken: Redacted.value(grant.accessToken),
        refreshToken: reveal(grant.refreshToken)
      }),
    removeGrant: Effect.asVoid(write(store.remove(grantKey))),
    client: (issuer) =>
      Effect.map(decoded(clientKey(issuer), clientFrom), (stored) =>
        stored === undefined ? undefined : { ...stored, secret: hide(stored.secret) }
      ),
    setClient: (issuer, { authMethod, clientId, redirectUris, secret, secretExpiresAt }) =>
      Effect.asVoid(
        put(clientKey(issuer), { clientId, secret: reveal(secret), authMethod, redirectUris, secretExpiresAt })
      ),
    removeClient: (issuer) => Effect.asVoid(write(store.remove(clientKey(issuer)))),
    binding: (clientId) => read(bindingKey(clientId)),
    bind: (clientId, issuer) => Effect.asVoid(write(store.set(bindingKey(clientId), Redacted.make(issuer)))),
    exclusively: (effect) =>
      // A store that cannot be locked must not keep a token from being renewed.
      Effect.matchEffect(store.exclusively(grantKey)(Effect.exit(effect)), {
        onFailure: ({ message }) =>
          Effect.andThen(report(AuthorizationNotice.StoreNotLocked({ because: message })), effect),
        onSuccess: (exit) => exit
      })
  }
}
