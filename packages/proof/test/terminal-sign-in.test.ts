/**
 * A server that wants more than a sign-in has given, while somebody is at the terminal.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { world } from "./fixtures/protectedWorld.ts"
import { terminal } from "./fixtures/terminal.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

describe("U-64, U-67: a scope that is missing", () => {
  it.live("is asked for at a terminal before the browser opens; a no ends the call with 77, a yes makes it", () =>
    Effect.gen(function* () {
      const { env, run, server, visits } = yield* world
      assert.strictEqual((yield* run(["auth", "login", server.url])).code, 0)
      assert.strictEqual(yield* visits, 1)
      const add = ["call", server.url, "add", "a=1", "b=2"]

      const no = yield* terminal(add, { env })
      yield* no.sees(/This needs a sign-in at 127\.0\.0\.1:\d+\. Open it in your browser\?/)
      yield* no.type("n")
      assert.strictEqual(yield* no.code, 77)
      assert.strictEqual(yield* visits, 1)

      const yes = yield* terminal(add, { env })
      yield* yes.sees(/Open it in your browser\?/)
      yield* yes.type("y")
      yield* yes.sees(/^Sign in at http:\/\/127\.0\.0\.1:\d+\/auth\?/m)
      assert.strictEqual(yield* yes.code, 0)
      assert.match(yes.screen(), /\n3$/)
      // The first page leads back at once: this server holds a client to the scopes that it was registered with.
      assert.strictEqual(yield* visits, 3)

      // What was given stays given, and nobody is asked again.
      const again = yield* run(add)
      assert.deepStrictEqual([again.code, again.out], [0, "3\n"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
