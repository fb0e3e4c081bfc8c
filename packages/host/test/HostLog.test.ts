import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as HostLog from "@mcp-effect/host/HostLog"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"

describe("the log of a host", () => {
  it.live("U-59: spans runs in one file, in order, from the least level on, with secrets hidden and on one line", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* fs.makeTempDirectoryScoped()}/host.log`
      const run = (text: string) =>
        Effect.scoped(
          Effect.gen(function* () {
            const log = yield* HostLog.toFile({ path })
            yield* log.write({ text: "too little", level: "debug" })
            yield* log.write({ text, server: "files" })
            return yield* Stream.runCollect(Stream.take(log.lines, 1))
          })
        )
      const [line] = yield* run("first\nAuthorization: Bearer abc.def")
      assert.strictEqual(line?.server, "files")
      yield* run("second https://u:p@host/?token=abc")
      const text = yield* fs.readFileString(path)
      assert.match(
        text,
        /^\S+ INFO \[files\] first\\nAuthorization: <redacted>\n\S+ INFO \[files\] second https:\/\/<redacted>@host\/\?token=<redacted>\n$/
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
