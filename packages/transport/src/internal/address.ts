/**
 * URLs of servers: what may be shown of them, and the credentials inside them.
 */
import * as SecretName from "@mcp-effect/protocol/SecretName"
import * as Base64 from "effect/encoding/Base64"
import * as UrlParams from "effect/http/UrlParams"
import * as Result from "effect/Result"

/** The URL for people and for keys: user name, password and secret-looking parameters hidden. */
export const shown = (url: string): string => UrlParams.redactUrl(url, [SecretName.inSettings])

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
