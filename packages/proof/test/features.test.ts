/**
 * Every feature of the client with every server, over every transport and in every mode: one test per cell of the table in
 * `docs/compatibility.md`. The checks and what is expected are data in `matrix/`.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Effect from "effect/Effect"
import { type Column, columns, measure, type Outcome, titleOf } from "../matrix/Column.ts"
import { expectedOf, inShort } from "../matrix/expected.ts"
import { features, type Name } from "../matrix/features.ts"
import { patience } from "./fixtures/patience.ts"

const found = new Map<Column, ReadonlyMap<Name, Outcome>>()

/** Processes start slowly on a busy machine; what is waited for has limits of its own. */
const patient = 180_000

beforeAll(
  () =>
    Effect.runPromise(
      Effect.forEach(columns, (column) => Effect.map(measure(column), (outcomes) => void found.set(column, outcomes)), {
        concurrency: 4,
        discard: true
      }).pipe(Effect.provide([NodeServices.layer, NodeHttp.layer, patience]))
    ),
  patient
)

for (const column of columns) {
  describe(titleOf(column), () => {
    for (const { name, shows } of features) {
      const expected = expectedOf(column, name)
      it(`${shows}: ${name}: ${inShort(expected)}`, () =>
        assert.deepStrictEqual(found.get(column)?.get(name), expected))
    }
  })
}

/** Who does not show a feature in an era, and why none can: each era lacks some, and so does each kind of server. */
const absent: {
  readonly [Kind in "official" | "effect" | "scripted"]: Readonly<Record<Column["era"], ReadonlyArray<Name>>>
} = {
  official: {
    // Its SDKs check what their tools give.
    modern: ["ping", "an address before the answer", "changed folders", "output that breaks its schema"],
    legacy: ["discover", "results kept by hint", "mirrored headers", "output that breaks its schema"]
  },
  effect: {
    // It has neither pages nor tasks, and checks what its tools give.
    modern: [
      "ping",
      "an address before the answer",
      "changed folders",
      "output that breaks its schema",
      "lists of several pages",
      "tasks"
    ],
    legacy: [
      "discover",
      "results kept by hint",
      "mirrored headers",
      "an address before the answer",
      "changed folders",
      "output that breaks its schema",
      "lists of several pages",
      "tasks"
    ]
  },
  scripted: {
    modern: ["ping", "an address before the answer", "changed folders"],
    legacy: ["discover", "results kept by hint", "mirrored headers"]
  }
}

const kindOf = ({ server }: Column) =>
  server === "server" || server === "sdk" ? "official" : server.startsWith("effect") ? "effect" : server

describe("every feature", () => {
  it.each(features)(
    "$shows: $name is shown in each era by an official server, Effect's and a scripted peer",
    ({ name }) => {
      for (const kind of ["official", "effect", "scripted"] as const) {
        for (const era of ["modern", "legacy"] as const) {
          const works = columns.some(
            (column) => kindOf(column) === kind && column.era === era && expectedOf(column, name).is === "works"
          )
          assert.strictEqual(works, !absent[kind][era].includes(name), `${kind}, ${era}`)
        }
      }
    }
  )
})

describe("progress", () => {
  it.effect("M-PROG-8: of another request is not heard on the event stream of this one", () =>
    Effect.gen(function* () {
      const told = (progressToken: number, progress: number) =>
        Script.say({ method: "notifications/progress", params: { progressToken, progress } })
      const server = yield* ScriptedServer.make(
        Script.modern({ on: { "tools/call": [told(99, 50), told(2, 1), Script.answer()] } })
      )
      const client = yield* McpClient.connect(server.http)
      const steps: Array<number> = []
      yield* client.callTool("echo", {}, { onProgress: ({ progress }) => void steps.push(progress) })
      assert.deepStrictEqual(steps, [1])
    })
  )
})
