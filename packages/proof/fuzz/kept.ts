/** What is kept in files and read again, perhaps by another program: configurations, logs, verdicts, paused calls. */
import * as Continuation from "@mcp-effect/client/Continuation"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as Configuration from "@mcp-effect/host/Configuration"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Verdict from "@mcp-effect/negotiation/Verdict"
import * as Arbitraries from "@mcp-effect/testing/Arbitraries"
import * as Recording from "@mcp-effect/testing/Recording"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as ExchangeLog from "@mcp-effect/transport/ExchangeLog"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { damaged } from "./Damage.ts"
import { endsTyped, quiet, type Target, target } from "./Target.ts"

const configurations = damaged(
  '{"mcpServers":{"files":{"command":"server-filesystem","args":["~/work"],"env":{"TOKEN":"${TOKEN}"}}}}',
  '{"servers":{"web":{"type":"http","url":"https://example.com/mcp","headers":{"x":"${input:x}"}}},"inputs":[{"id":"x","type":"promptString"}]}',
  '[{"name":"one","command":["a","b"]}] // comment',
  '{"mcp":{"servers":{"old":{"type":"sse","url":"http://127.0.0.1:1/sse"}}},"editor.fontSize":12}',
  '{"mcpServers":[{"name":"two","url":"https://user:password@example.com/","tools":{"allow":["read_*"],"deny":["*"]}}]}',
  '/* only a comment */ {"servers":{"a":{"command":"${env:HOME}/bin","cwd":"${workspaceFolder}","disabled":true,"timeout":1e3,}}}'
)

/** What is written of a configuration, in any form, is a configuration again. */
const rereads = Effect.fnUntraced(function* (text: string) {
  const configuration = yield* Configuration.parse(text)
  for (const form of ["array", "mcpServers", "servers"] as const) {
    yield* Configuration.parse(Configuration.print(configuration, { form }))
  }
})

const kept = Arbitraries.element(
  '{"event":"opened","wire":1,"at":0,"endpoint":"x"}',
  '{"event":"sent","wire":1,"at":1,"message":{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}}',
  '{"event":"heard","wire":1,"at":2,"message":{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}}',
  '{"event":"sent","wire":1,"at":3,"message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}}',
  '{"event":"heard","wire":1,"at":3,"message":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}}',
  '{"event":"heard","wire":1,"at":4,"message":{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no"}}}',
  '{"event":"heard","wire":1,"at":4,"message":{"jsonrpc":"2.0","id":1,"method":"ping"}}',
  '{"event":"heard","wire":1,"at":4,"message":{"id":2}}',
  '{"event":"heard","wire":1,"at":4,"message":{"id":2,"error":null}}',
  '{"event":"heard","wire":1,"at":4,"message":{"id":1,"result":5}}',
  '{"event":"sent","wire":1,"at":4,"message":{"id":1,"method":7,"params":null}}',
  '{"event":"failed","wire":1}',
  '{"event":"failed","wire":1,"at":5,"id":2,"reason":"Exited","because":"it ended"}',
  '{"event":"interrupted","wire":1,"at":6,"id":2}',
  '{"event":"closed","wire":1,"at":7}'
)

const logs = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.flatMap(Arbitrary.all([kept, Arbitraries.element(0, 0, 1)]), ([line, harmed]) =>
      harmed === 0 ? Arbitraries.element(line) : damaged(line)
    ),
    { maxLength: 12 }
  ),
  (lines) => lines.join("\n")
)

/** A log answers again and becomes a script, whatever is in it. */
const replays = Effect.fnUntraced(function* (text: string) {
  const entries = ExchangeLog.parse(text)
  const again = yield* ScriptedServer.make(Recording.script(entries))
  for (const transport of [ExchangeLog.replay("log", entries), again.pipe()]) {
    yield* Effect.ignore(Effect.flatMap(McpClient.connect(transport), (client) => client.callTool("echo")))
  }
})

const verdicts = damaged(
  '{"era":"modern","discover":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":1,"cacheScope":"private"},"rule":"P1","at":1}',
  '{"era":"legacy","offer":"2025-11-25","transport":"httpSse","rule":"P8","strength":"definitive","at":1}',
  '{"supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{}}'
)

/** A text that stands where a verdict was saved: recalled, and given as a prior. */
const recalls = Effect.fnUntraced(function* (text: string) {
  const store = yield* KeyValueStore.KeyValueStore
  yield* store.set("mcp-effect/era/x", text)
  yield* EraMemory.make(EraMemory.persistent(store)).recall("x")
  const saved = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(saved)) return
  const parsed = Verdict.parse(saved.success)
  if (Result.isFailure(parsed)) return
  const server = yield* ScriptedServer.make(Script.both())
  yield* McpClient.connect(server.pipe(), { mode: { _tag: "Auto", prior: parsed.success } })
})

const paused = damaged(
  '{"tool":"echo","arguments":{"text":"a"},"questions":{"who":{"method":"elicitation/create","params":{"mode":"form","message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}},"requestState":"s","round":1}',
  '{"tool":"echo","arguments":{},"questions":{},"round":0}'
)

/** A paused call that was kept as JSON: read, or refused; and gone on with. */
const resumes = Effect.fnUntraced(function* (text: string) {
  const value = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(value)) return
  const read = yield* Schema.decodeUnknownEffect(Continuation.Continuation)(value.success)
  const server = yield* ScriptedServer.make(Script.modern())
  const client = yield* McpClient.connect(server.pipe())
  yield* client.resume(read, { who: { action: "cancel" } })
})

/** What of files is fed with damage. */
export const targets: ReadonlyArray<Target> = [
  target("configurations", configurations, (text) => endsTyped(rereads(text)), 0.5),
  target("logs of exchanges", logs, (text) => quiet(replays(text)), 0.1),
  target(
    "saved verdicts",
    verdicts,
    (text) => quiet(Effect.provide(recalls(text), [KeyValueStore.layerMemory, Logger.layer([])])),
    0.1
  ),
  target("paused calls", paused, (text) => quiet(resumes(text)), 0.1)
]
