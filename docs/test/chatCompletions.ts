/** A model provider on loopback: OpenAI's "chat completions", as far as the examples use them. */
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"

export const key = "sk-only-for-this-test"

interface Asked {
  readonly messages: ReadonlyArray<{
    readonly role: string
    readonly content: string
    readonly tool_call_id?: string
    readonly tool_calls?: ReadonlyArray<{ readonly id: string }>
  }>
  readonly tools?: ReadonlyArray<{ readonly type: string; readonly function: { readonly name: string } }>
}

const bodyOf = async (request: IncomingMessage): Promise<Asked> => {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return JSON.parse(text) as Asked
}

/** What the API refuses: other names of tools, and calls that nobody answered. */
const isWrong = ({ messages, tools = [] }: Asked) => {
  const called = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id))
  const answered = messages.flatMap(({ tool_call_id }) => (tool_call_id === undefined ? [] : [tool_call_id]))
  return (
    tools.some((tool) => tool.type !== "function" || !/^[a-zA-Z0-9_-]{1,64}$/.test(tool.function.name)) ||
    called.toSorted().join() !== answered.toSorted().join()
  )
}

/** Wants the key; calls the tool first, and repeats what it said then. */
const answer = ({ messages, tools = [] }: Asked) => {
  const heard = messages.find(({ role }) => role === "tool")
  if (heard !== undefined) {
    return { finish_reason: "stop", message: { role: "assistant", content: `The tool says: ${heard.content}` } }
  }
  const name = tools.map((tool) => tool.function.name).find((tool) => tool.endsWith("get-sum")) ?? "none"
  const called = { id: "call_1", type: "function", function: { name, arguments: '{"a":2,"b":3}' } }
  return { finish_reason: "tool_calls", message: { role: "assistant", content: null, tool_calls: [called] } }
}

/** Runs while the work does, which gets its environment. */
export const serving = async <A>(work: (env: Readonly<Record<string, string>>) => Promise<A>): Promise<A> => {
  const server = createServer((request, response) => {
    void (async () => {
      const asked = await bodyOf(request)
      const known = request.url === "/v1/chat/completions" && request.headers.authorization === `Bearer ${key}`
      response.writeHead(known ? (isWrong(asked) ? 400 : 200) : 401, { "content-type": "application/json" })
      const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
      response.end(
        JSON.stringify(known ? { id: "1", choices: [{ index: 0, ...answer(asked) }], usage } : { error: "no" })
      )
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  try {
    return await work({ OPENAI_API_KEY: key, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
