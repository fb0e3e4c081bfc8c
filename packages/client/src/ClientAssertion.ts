/**
 * Proof of a client's identity by a signed JWT (`private_key_jwt`, RFC 7523 section 2.2), instead of a secret.
 *
 * The key stays in here: what comes out is a function that signs a short-lived assertion for one audience.
 *
 * @since 0.1.0
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { importJWK, importPKCS8, SignJWT } from "jose"
import { SigningFailed } from "./AuthorizationError.ts"
import * as Random from "./internal/authorization/random.ts"

/**
 * Signs an assertion for a client and an audience; the audience is the issuer (A-11-3).
 *
 * @category models
 * @since 0.1.0
 */
export interface ClientAssertion {
  readonly sign: (claims: {
    readonly clientId: string
    readonly audience: string
  }) => Effect.Effect<Redacted.Redacted, SigningFailed>
}

/** How long an assertion is good for, in seconds. */
const lifetime = 60

const failed = (cause: unknown) =>
  new SigningFailed({
    what: "client assertion",
    because: excerpt(cause instanceof Error ? cause.message : "the key cannot be used")
  })

/**
 * Signs with a private key: PKCS#8 as PEM, or a JWK as JSON. `algorithm` is the JOSE name, for example `ES256`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: {
  readonly key: Redacted.Redacted
  readonly algorithm: string
  /** The `kid` by which the authorization server finds the public key. */
  readonly keyId?: string
}): ClientAssertion => ({
  sign: Effect.fnUntraced(function* ({ audience, clientId }) {
    const id = yield* Random.text(16)
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const text = Redacted.value(options.key).trim()
    const header = { alg: options.algorithm, ...(options.keyId === undefined ? {} : { kid: options.keyId }) }
    return yield* Effect.tryPromise({
      try: () =>
        (text.startsWith("{")
          ? importJWK(JSON.parse(text), options.algorithm)
          : importPKCS8(text, options.algorithm)
        ).then((key) =>
          new SignJWT({})
            .setProtectedHeader(header)
            .setIssuer(clientId)
            .setSubject(clientId)
            .setAudience(audience)
            .setJti(id)
            .setIssuedAt(now)
            .setExpirationTime(now + lifetime)
            .sign(key)
        ),
      catch: failed
    }).pipe(Effect.map((jwt) => Redacted.make(jwt)))
  })
})
