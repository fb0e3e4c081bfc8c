/** `docs/compatibility.md` as text, from the rows. `run.ts` measures them and writes it. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { cellCount, featureTable } from "./featureTable.ts"
import { rows } from "./Matrix.ts"
import { rows as others } from "./Others.ts"

export const file = fileURLToPath(new URL("../../../docs/compatibility.md", import.meta.url))

type Versions = Readonly<Record<string, string>>

const manifest: { readonly dependencies: Versions; readonly devDependencies: Versions } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8")
)

const versionOf = (name: string) => manifest.dependencies[name] ?? manifest.devDependencies[name] ?? "?"

const line = (cells: ReadonlyArray<string | number>) => `| ${cells.join(" | ")} |`

const table = [
  line(["Server", "`auto` agrees on", "rule", "over", "trips", "again", "`legacy`", "pinned 2026-07-28"]),
  line(["---", "---", "---", "---", "---:", "---:", "---", "---"]),
  ...rows.map((row) => line([row.server, row.auto, row.rule, row.over, row.trips, row.again, row.legacy, row.pinned]))
].join("\n")

const compared = [
  line(["Server", "this library", "`client`", "`client`, `auto`", "Inspector, `auto`"]),
  line(["---", "---", "---", "---", "---"]),
  ...others.map(({ inspector, official, officialAuto, ours, server }) =>
    line([server, ours, official, officialAuto, inspector])
  )
].join("\n")

export const page = `# Compatibility

Which servers this library was tried with, what connecting to each comes to, and which features work. Every cell is
checked against the real server whenever the tests run; the page is printed from the same data, so it cannot go stale.
\`pnpm run matrix\` checks it all again, and \`pnpm run matrix --write\` writes this page.

## Connecting

${table}

How to read it:

- **rule** is the row of the [table of negotiation](negotiation.md) that settled the era.
- **trips** counts the answers that were waited for before the connection was agreed. HTTP+SSE takes four: both POSTs are
  refused before the stream is opened.
- **again** is the same for the next connection, which remembers the era: a modern server is not asked at all, a legacy one
  only to shake hands.
- **legacy** is the version agreed on in mode \`legacy\`, or the reason of the error. Effect's server for 2026-07-28 alone
  answers \`initialize\` with -32020 and names no versions.
- **pinned** says whether the tools can be listed over a pinned connection, which sends nothing before that; otherwise the
  reason of the error. Older servers on a pipe answer a request even if nobody has greeted them: a pin is your promise,
  and only \`verify\` checks it.

## Features

Each check is a small program with the public API alone: it uses the feature and looks at what came of it. There are
${cellCount} of them, one for each feature, server, transport and mode. ✓ means that the feature works; a number says why there is
nothing to use, or which typed error tells the program so. HTTP goes over \`NodeHttp.layer\` here, and over the undici layer of
\`@effect/platform-node\` in the other tables.

${featureTable}

"tasks" are the extension of 2026-07-28 for the modern columns and the experiment of 2025-11-25 for the legacy ones. The
modern SDK has no tasks of its own; "server" carries tasks that were written for these checks. More of tasks is tried in
the same way: cancelling, questions, failures, another client.

"effect" was tried with every revision at one address and with the legacy ones alone. "scripted" are peers of
[the testing kit](testing.md) in memory, one script per feature, for what a real server does not have; it is looked up in
what they heard that the client did its part. "folders" are roots, "a model" is sampling, "a form" and "an address" are elicitation.

## Other clients

The same servers, met by the official TypeScript client (\`@modelcontextprotocol/client\` ${versionOf("@modelcontextprotocol/client")}) and the
command line of the official Inspector (${versionOf("@modelcontextprotocol/inspector")}). Each is told the command or the address and nothing more, and lists
the tools. A cell says which version was agreed on; the Inspector does not tell.

${compared}

- The official client asks for the era only when it is told to (\`auto\`); without that it shakes hands, as here in the third
  column. The Inspector does the same, and was told \`auto\`.
- HTTP+SSE is another transport that the official client has to be given. The Inspector takes it when the address ends in
  \`/sse\`; the server of sdk 1.0.0 is at \`/mcp\`.
- "scripted, ends at the probe" is a legacy server whose process ends at a request that it does not know. This library
  starts it again; the official client probes a second process; the Inspector gives up.

## The servers

The servers: \`@modelcontextprotocol/server\` ${versionOf("@modelcontextprotocol/server")} ("server"); Effect's \`McpServer\`
${versionOf("effect")}, configured for one revision or for all ("effect"); \`@modelcontextprotocol/server-everything\`
${versionOf("@modelcontextprotocol/server-everything")}, \`-filesystem\` ${versionOf("@modelcontextprotocol/server-filesystem")} and
\`-memory\` ${versionOf("@modelcontextprotocol/server-memory")}; \`@modelcontextprotocol/sdk\` in five releases ("sdk").
`
