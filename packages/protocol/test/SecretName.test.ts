import { assert, describe, it } from "@effect/vitest"
import * as SecretName from "../src/SecretName.ts"

describe("a name", () => {
  const everywhere = [
    ["password", "userPassword", "DB_PASSWD", "passphrase", "pwd"],
    ["secret", "client_secret", "credentials", "AWS_CREDENTIAL"],
    ["Authorization", "proxy-authorization", "Cookie", "set-cookie"],
    ["apiKey", "api_key", "X-Api-Key", "API KEY", "privateKey", "accessKey"],
    ["token", "access_token", "refreshToken", "id-token", "GITHUB_TOKEN", "csrfToken"]
  ].flat()
  const settings = ["key", "auth", "session_id", "X-Amz-Signature", "sig", "code", "GH_PAT", "pat", "TOKEN_FOR_CI"]
  const harmless = [
    "name",
    "progressToken",
    "nextPageToken",
    "page_token",
    "continuationToken",
    "path",
    "pattern",
    "maxTokens"
  ]

  it("that says it is a secret is one in data and in settings", () => {
    for (const name of everywhere) {
      assert.isTrue(SecretName.isSecret(name), name)
      assert.isTrue(SecretName.isSecretSetting(name), name)
    }
  })

  it("that a program may use for anything is one in settings alone", () => {
    for (const name of settings) {
      assert.isFalse(SecretName.isSecret(name), name)
      assert.isTrue(SecretName.isSecretSetting(name), name)
    }
  })

  it("that only looks like one is shown in data", () => {
    for (const name of harmless) assert.isFalse(SecretName.isSecret(name), name)
    for (const name of ["name", "path", "pattern", "region", "barcode", "signal", "PWD", "AUTHOR", "KEYBOARD"]) {
      assert.isFalse(SecretName.isSecretSetting(name), name)
    }
  })

  it("is looked at in all of its rows: without any of them one of these would be shown", () => {
    for (const row of SecretName.rows) {
      const others = SecretName.rows.filter((other) => other !== row)
      assert.isTrue(
        [...everywhere, ...settings].some(
          (name) => row.names.test(name) && !others.some(({ names, where }) => where === row.where && names.test(name))
        ),
        row.names.source
      )
    }
  })
})
