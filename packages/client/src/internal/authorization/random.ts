/** Random text and digests, from the `WebCrypto` reference. */
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"

/** Unguessable text of the base64url alphabet, from so many random bytes. */
export const text = (bytes: number): Effect.Effect<string> =>
  WebCrypto.use((crypto) => Effect.sync(() => Base64Url.encode(crypto.getRandomValues(new Uint8Array(bytes)))))

export const sha256 = (data: Uint8Array<ArrayBuffer> | string): Effect.Effect<Uint8Array> =>
  WebCrypto.use((crypto) =>
    Effect.promise(() =>
      crypto.subtle.digest("SHA-256", typeof data === "string" ? new TextEncoder().encode(data) : data)
    )
  ).pipe(Effect.map((digest) => new Uint8Array(digest)))

/** Compares without telling by its time where the texts differ. */
export const same = (a: string, b: string): boolean => {
  let difference = a.length ^ b.length
  for (let index = 0; index < a.length; index++) {
    difference |= a.charCodeAt(index) ^ (index < b.length ? b.charCodeAt(index) : 0)
  }
  return difference === 0
}
