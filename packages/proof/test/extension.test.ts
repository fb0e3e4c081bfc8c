/** A method of an extension on the official server, in both eras, over each transport. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as ExtensionMethod from "@mcp-effect/client/ExtensionMethod"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { columns } from "../matrix/Column.ts"
import { patience } from "./fixtures/patience.ts"

const Add = ExtensionMethod.make("com.example/add", {
  params: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  result: Schema.Struct({ sum: Schema.Finite })
})

const Unknown = ExtensionMethod.make("com.example/unknown", { params: Schema.Struct({}), result: Schema.Unknown })

const rows = columns
  .filter(({ mode, server }) => server === "server" && mode !== "pinned")
  .map((column) => ({ column, name: `${column.era}, ${column.over}, ${column.mode}` }))

const Platform = Layer.mergeAll(NodeServices.layer, NodeHttp.layer, EraMemory.layerInProcess, patience)

describe("a method of an extension, on the official server", () => {
  it.live.each(rows)("$name: is answered, and one that it does not have is refused", ({ column }) =>
    Effect.gen(function* () {
      const { transport } = yield* column.start("tasks", "/")
      const client = yield* McpClient.connect(transport, { mode: column.era === "legacy" ? "legacy" : "auto" })
      assert.strictEqual(client.agreement.era, column.era)
      assert.deepStrictEqual(yield* ExtensionMethod.call(client, Add, { a: 2, b: 3 }), { sum: 5 })
      const error = yield* Effect.flip(ExtensionMethod.call(client, Unknown, {}))
      assert.isTrue(
        error._tag === "McpClientError" && error.reason._tag === "ServerError" && error.reason.code === -32601
      )
    }).pipe(Effect.scoped, Effect.provide(Platform))
  )
})
