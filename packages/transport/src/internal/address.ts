/**
 * URLs of servers: what may be shown of them, and the credentials inside them.
 */
import * as SecretName from "@mcp-effect/protocol/SecretName"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Hex from "effect/encoding/Hex"
import * as UrlParams from "effect/http/UrlParams"
import * as Result from "effect/Result"

/** The URL for people: user name, password and secret-looking parameters hidden. */
export const shown = (url: string): string => UrlParams.redactUrl(url, [SecretName.inSettings])

/**
 * Tells a URL from others that are shown alike: a SHA-256 of it, so that nothing hidden can be read from a key that is kept.
 * Nothing for a URL that is shown as it is.
 */
export const setting = (url: string): Effect.Effect<string | undefined> =>
  shown(url) === url
    ? Effect.undefined
    : WebCrypto.use((crypto) =>
        Effect.tryPromise((): Promise<ArrayBuffer> =>
          crypto.subtle.digest("SHA-256", new TextEncoder().encode(url))
        ).pipe(
          Effect.map((digest) => new Uint8Array(digest)),
          // Pages without HTTPS have no digests: there it is told from everything, itself at another time too.
          Effect.orElseSucceed(() => crypto.getRandomValues(new Uint8Array(32))),
          Effect.map(Hex.encode)
        )
      )

const plain = (text: string) =>
  Result.getOrElse(
    Result.try(() => decodeURIComponent(text)),
    () => text
  )

/** Takes user name and password out of a URL, where `fetch` refuses them, and makes the header of them. */
export const withoutCredentials = (url: URL): { readonly url: string; readonly authorization: string | undefined } => {
  if (url.username === "" && url.password === "") return { url: url.href, authorization: undefined }
  const bare = new URL(url)
  bare.username = ""
  bare.password = ""
  const pair = `${plain(url.username)}:${plain(url.password)}`
  return { url: bare.href, authorization: `Basic ${Base64.encode(pair)}` }
}
