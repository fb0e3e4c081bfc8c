/**
 * What runs in the browser: a client connects to a server of another origin, lists its tools and calls one. It is bundled
 * from here, so it shows too that nothing of Node comes along.
 */
import * as McpClient from "@mcp-effect/client/McpClient"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"

/** What a page found at one server. */
export interface Visit {
  readonly era: string
  readonly tools: number
  /** What the tool said. */
  readonly said: string
}

/** Visits one server. The tool `echo` gets the text `from a page`. */
export const visit = (url: string): Promise<Visit> =>
  McpClient.connect(url).pipe(
    Effect.flatMap((client) =>
      Effect.gen(function* () {
        const tools = yield* client.listTools()
        const { content } = yield* client.callTool("echo", { text: "from a page" })
        const [first] = content
        const said = first?.type === "text" ? first.text : "no text"
        return { era: client.agreement.era, tools: tools.length, said }
      })
    ),
    Effect.scoped,
    Effect.provide(FetchHttpClient.layer),
    Effect.runPromise
  )
