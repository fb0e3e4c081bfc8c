/** Every program under `docs/examples` is run in a process of its own, and what it prints is checked. */
import { execFile } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import * as ChatCompletions from "./chatCompletions.ts"

const docs = join(import.meta.dirname, "..")

/** What each program prints, line by line. */
const printed: Readonly<Record<string, ReadonlyArray<string>>> = {
  "answer-an-elicitation.ts": [
    "Which seat?",
    'modern [{"type":"text","text":"booked"}]',
    "Which seat?",
    'legacy [{"type":"text","text":"booked"}]'
  ],
  "connect-and-call.ts": ["legacy 2025-11-25", '[{"type":"text","text":"Echo: hello"}]'],
  "custom-transport.ts": ['worker 2026-07-28 [{"type":"text","text":"hello"}]'],
  "pin-with-a-saved-discovery.ts": ["round trips: 0", "tools known: true", "heard: tools/call"],
  "real-provider.ts": ['everything__get-sum {"a":2,"b":3}', "The tool says: The sum of 2 and 3 is 5."],
  "resume-elsewhere.ts": ["parked: seat", 'resumed: Done [{"type":"text","text":"booked"}]'],
  "scripted-model.ts": [
    "files__read_text_file answered",
    "sums__get-sum answered",
    "memory__create_entities answered",
    "memory__read_graph answered",
    "files__read_text_file, sums__get-sum, memory__create_entities, memory__read_graph",
    '{"entities":[{"name":"sum","entityType":"fact","observations":["The sum of 2 and 3 is 5."]}],"relations":[]}'
  ],
  "test-negotiation.ts": ["the property holds"],
  "three-servers.ts": [
    "old 2025-11-25",
    "new 2026-07-28",
    "both 2026-07-28",
    "both__echo new__echo old__echo",
    '[{"type":"text","text":"hello"}]'
  ],
  "servers-of-a-file.ts": [
    'left out: line 5, column 23: server "wrong", mcpServers.wrong.url: it begins with neither "http://" nor "https://"',
    "everything: ready, 2025-11-25",
    "missing: asked the platform to start `no-such-command`, it could not: NotFound",
    "tools: everything__get-structured-content everything__get-sum",
    '[{"type":"text","text":"The sum of 2 and 3 is 5."}]',
    'the call of echo on "everything" was refused: the handler said no'
  ],
  "trace-to-opentelemetry.ts": [
    "mcp.probe, below mcp.connect mcp.protocol.version=2026-07-28",
    "mcp.connect, below nothing",
    "mcp.request, below McpClient.callTool mcp.method.name=tools/call mcp.protocol.version=2026-07-28 gen_ai.tool.name=echo gen_ai.operation.name=execute_tool",
    "McpClient.callTool, below plan a trip",
    "plan a trip, below nothing",
    "the server was told: true",
    "metrics: true"
  ]
}

describe("an example", () => {
  it("is listed here when it is in the folder", () => {
    const files = readdirSync(join(docs, "examples")).filter((file) => file.endsWith(".ts"))
    assert.deepStrictEqual(files.toSorted(), Object.keys(printed).toSorted())
  })

  for (const [file, lines] of Object.entries(printed)) {
    it(`${file} ends within 30 seconds and prints what it says`, { timeout: 60_000 }, async () => {
      // The one that needs a provider finds it on loopback.
      const { stdout } = await ChatCompletions.serving((env) =>
        promisify(execFile)(process.execPath, [join("examples", file)], {
          cwd: docs,
          env: { ...process.env, ...env },
          timeout: 30_000
        })
      )
      assert.deepStrictEqual(
        stdout
          .split("\n")
          .map((line) => line.trimEnd())
          .filter((line) => line !== ""),
        [...lines]
      )
    })
  }
})
