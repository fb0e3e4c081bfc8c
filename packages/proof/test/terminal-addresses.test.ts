/**
 * A server asks the person at the terminal to open an address. The opener of the platform is one that writes down what it
 * was started with.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Servers from "../servers/Servers.ts"
import { ctrlC, down, enter, terminal, up } from "./fixtures/terminal.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

/** A call of a tool that asks for an address to be opened, and what the opener was started with. */
const asked = Effect.fnUntraced(function* (url: string, ...more: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { target } = yield* Servers.everythingStdio
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "mcp-opener-" })
  const file = path.join(folder, "opened")
  const opener = path.join(folder, "xdg-open")
  yield* fs.writeFileString(opener, `#!/bin/sh\nprintf '%s\\n' "$#" "$@" >> ${file}\n`)
  yield* fs.chmod(opener, 0o755)
  const words = ["call", "--yes", "trigger-url-elicitation", `url=${url}`, "message=Pay here", ...more]
  const at = yield* terminal([...words, "--", target.command, ...target.args], {
    columns: 200,
    env: { PATH: `${folder}:${process.env["PATH"]}` }
  })
  const opened = Effect.orElseSucceed(fs.readFileString(file), () => "")
  return { at, opened, remove: fs.remove(opener) }
})

const hostile = "https://example.com/pay;touch$IFS-x?a=$(id)&b=`id`|c#'\"d"
const href = new URL(hostile).href

describe("T-SEC-10, M-ELI-19: an address that a server wants opened", () => {
  it.live("is shown whole with its host, and opened after a yes: as one argument, whatever stands in it", () =>
    Effect.gen(function* () {
      const { at, opened } = yield* asked(hostile)
      yield* at.sees(/The server asks you to open an address: Pay here\n/)
      assert.include(at.screen(), `address  ${href}\n`)
      assert.match(at.screen(), /^host {5}example\.com$/m)
      yield* at.sees(/Open it in your browser\?/)
      assert.strictEqual(yield* opened, "")
      yield* at.type(`${up}${enter}`)
      yield* at.sees(/User completed the URL elicitation flow/)
      assert.strictEqual(yield* at.code, 0)
      assert.strictEqual(yield* opened, `1\n${href}\n`)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is not opened by the key that confirms, nor by cancel or Ctrl-C, which ends the command with 130", () =>
    Effect.gen(function* () {
      const rows: ReadonlyArray<readonly [keys: string, code: number, seen: RegExp]> = [
        [enter, 0, /User declined/],
        [`${down}${enter}`, 0, /User cancelled/],
        [ctrlC, 130, /Open it/]
      ]
      yield* Effect.forEach(
        rows,
        Effect.fnUntraced(function* ([keys, code, seen]) {
          const { at, opened } = yield* asked("https://example.com/")
          yield* at.sees(/Open it in your browser\?/)
          yield* at.type(keys)
          assert.strictEqual(yield* at.code, code)
          assert.match(at.screen(), seen)
          assert.strictEqual(yield* opened, "")
        }),
        { concurrency: 2 }
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is refused before anybody is asked when it is no web address, or holds a user name", () =>
    Effect.gen(function* () {
      const addresses = [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http://example.com/",
        "https://bank.example@evil.test/"
      ]
      yield* Effect.forEach(
        addresses,
        Effect.fnUntraced(function* (address) {
          const { at, opened } = yield* asked(address)
          assert.strictEqual(yield* at.code, 1)
          assert.notMatch(at.screen(), /Open it/)
          assert.match(at.screen(), /the address may not be opened/)
          assert.strictEqual(yield* opened, "")
        }),
        { concurrency: 2 }
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is left to the person where no browser opens, and warned of when its host looks like another", () =>
    Effect.gen(function* () {
      const { at, opened, remove } = yield* asked("https://ex\u0430mple.com:8443/")
      yield* at.sees(/Open it in your browser\?/)
      assert.match(at.screen(), /^host {5}xn--exmple-4nf\.com:8443$/m)
      assert.match(at.screen(), /^beware {3}the name of the host has letters of other scripts/m)
      assert.match(at.screen(), /^beware {3}.*port 8443/m)
      yield* remove
      yield* at.type(`${up}${enter}`)
      yield* at.sees(/note: no browser was opened; open the address yourself/)
      assert.strictEqual(yield* at.code, 0)
      assert.strictEqual(yield* opened, "")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("that a call needs first is asked for in the same way, and the call is made again", () =>
    Effect.gen(function* () {
      const { at, opened } = yield* asked("https://example.com/", "errorPath=true")
      yield* at.sees(/https:\/\/modelcontextprotocol\.io\/[^]*Open it in your browser\?/)
      yield* at.type(`${up}${enter}`)
      yield* at.sees(/https:\/\/example\.com\/[^]*Open it in your browser\?/)
      yield* at.type(`${up}${enter}`)
      assert.strictEqual(yield* at.code, 0)
      assert.strictEqual(yield* opened, "1\nhttps://modelcontextprotocol.io/\n1\nhttps://example.com/\n")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
