/**
 * A language model behind an HTTP API calls tools of a real server.
 *
 * The API is OpenAI's "chat completions", which many other providers and local model servers offer too. Set
 * `OPENAI_API_KEY`, and where they differ `OPENAI_BASE_URL` and `OPENAI_MODEL`.
 */
import { NodeServices } from "@effect/platform-node"
import { AiToolkit, Host, ServerEntry } from "@mcp-effect/host"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import { Config, Console, Effect, Layer, Schema, Stream } from "effect"
import { AiError, Chat, LanguageModel, Prompt, type Response, Tool } from "effect/ai"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"

const Completion = Schema.Struct({
  choices: Schema.NonEmptyArray(
    Schema.Struct({
      finish_reason: Schema.String,
      message: Schema.Struct({
        content: Schema.optionalKey(Schema.NullOr(Schema.String)),
        tool_calls: Schema.optionalKey(
          Schema.NullOr(
            Schema.Array(
              Schema.Struct({
                id: Schema.String,
                function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
              })
            )
          )
        )
      })
    })
  ),
  usage: Schema.optionalKey(Schema.Struct({ prompt_tokens: Schema.Int, completion_tokens: Schema.Int }))
})

const texts = (content: ReadonlyArray<{ readonly type: string }>) =>
  content.flatMap((part) => ("text" in part && part.type === "text" ? [String(part.text)] : [])).join("\n")

/** One message of a prompt, as the API writes it. Files are left out: this program has none. */
const written = (message: Prompt.Message): ReadonlyArray<object> => {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }]
    case "user":
      return [{ role: "user", content: texts(message.content) }]
    case "assistant": {
      const calls = message.content.filter((part) => part.type === "tool-call")
      return [
        {
          role: "assistant",
          content: texts(message.content),
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map(({ id, name, params }) => ({
                  id,
                  type: "function",
                  function: { name, arguments: JSON.stringify(params) }
                }))
              })
        }
      ]
    }
    case "tool":
      return message.content
        .filter((part) => part.type === "tool-result")
        .map(({ id, modelOutput, result }) => ({
          role: "tool",
          tool_call_id: id,
          content: modelOutput === undefined ? JSON.stringify(result) : Prompt.toolModelOutputToText(modelOutput)
        }))
  }
}

const chosen = (choice: LanguageModel.ProviderOptions["toolChoice"]) =>
  typeof choice === "string"
    ? choice
    : "tool" in choice
      ? { type: "function", function: { name: choice.tool } }
      : (choice.mode ?? "auto")

const reasons: Readonly<Record<string, Response.FinishReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  content_filter: "content-filter"
}

type Part = Response.TextPartEncoded | Response.ToolCallPartEncoded | Response.FinishPartEncoded

const streamed = (part: Part): ReadonlyArray<Response.StreamPartEncoded> =>
  part.type === "text"
    ? [
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: part.text },
        { type: "text-end", id: "0" }
      ]
    : [part]

const failed = (reason: AiError.AiErrorReason) =>
  AiError.make({ module: "ChatCompletions", method: "generateText", reason })

const ChatCompletions = Layer.effect(
  LanguageModel.LanguageModel,
  Effect.gen(function* () {
    const { base, key, model } = yield* Config.all({
      key: Config.Redacted("OPENAI_API_KEY"),
      base: Config.String("OPENAI_BASE_URL").pipe(Config.withDefault("https://api.openai.com/v1")),
      model: Config.String("OPENAI_MODEL").pipe(Config.withDefault("gpt-4.1-mini"))
    })
    const client = (yield* HttpClient.HttpClient).pipe(
      HttpClient.mapRequest((request) =>
        request.pipe(HttpClientRequest.prependUrl(base), HttpClientRequest.bearerToken(key))
      )
    )

    const complete = ({ prompt, toolChoice, tools }: LanguageModel.ProviderOptions) =>
      Effect.gen(function* () {
        const request = yield* HttpClientRequest.post("/chat/completions").pipe(
          HttpClientRequest.bodyJson({
            model,
            messages: prompt.content.flatMap(written),
            ...(tools.length === 0
              ? {}
              : {
                  tool_choice: chosen(toolChoice),
                  tools: tools.map((tool) => ({
                    type: "function",
                    function: {
                      name: tool.name,
                      description: Tool.getDescription(tool),
                      parameters: Tool.getJsonSchema(tool)
                    }
                  }))
                })
          })
        )
        const response = yield* client.execute(request)
        if (response.status !== 200) {
          const { status } = response
          return yield* failed(AiError.reasonFromHttpStatus({ status, description: yield* response.text }))
        }
        return yield* HttpClientResponse.schemaBodyJson(Completion)(response)
      }).pipe(
        Effect.catchTags({
          HttpBodyError: (error) =>
            Effect.fail(failed(new AiError.InvalidRequestError({ description: String(error) }))),
          HttpClientError: ({ message }) => Effect.fail(failed(new AiError.UnknownError({ description: message }))),
          SchemaError: ({ message }) => Effect.fail(failed(new AiError.InvalidResponseError({ description: message })))
        })
      )

    const partsOf = Effect.fnUntraced(function* ({ choices, usage }: typeof Completion.Type) {
      const [{ finish_reason, message }] = choices
      const parts: Array<Part> = []
      if (message.content) parts.push({ type: "text", text: message.content })
      for (const { function: called, id } of message.tool_calls ?? []) {
        // an empty text is how some say that there are no arguments
        const params = yield* Effect.try({
          try: (): unknown => JSON.parse(called.arguments || "{}"),
          catch: () =>
            failed(new AiError.InvalidOutputError({ description: `the arguments of ${called.name} are no JSON` }))
        })
        parts.push({ type: "tool-call", id, name: called.name, params })
      }
      parts.push({
        type: "finish",
        reason: reasons[finish_reason] ?? "other",
        usage: { inputTokens: { total: usage?.prompt_tokens }, outputTokens: { total: usage?.completion_tokens } }
      })
      return parts
    })

    const generateText = (options: LanguageModel.ProviderOptions) => Effect.flatMap(complete(options), partsOf)

    return yield* LanguageModel.make({
      generateText,
      // the answer in one piece; `"stream": true` would bring it in many
      streamText: (options) =>
        Stream.fromEffect(generateText(options)).pipe(
          Stream.flatMap((parts) => Stream.fromIterable(parts.flatMap(streamed)))
        )
    })
  })
)

const program = Effect.gen(function* () {
  const host = yield* Host.Host
  yield* host.add(
    ServerEntry.stdio({ name: "everything", command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] })
  )
  yield* host.ready("everything")

  const chat = yield* Chat.empty
  const toolkit = AiToolkit.make(host)
  let turn = yield* chat.generateText({ prompt: "What is 2 + 3? Use a tool.", toolkit })
  for (let turns = 0; turn.toolCalls.length > 0 && turns < 10; turns++) {
    yield* Console.log(turn.toolCalls.map(({ name, params }) => `${name} ${JSON.stringify(params)}`).join("; "))
    turn = yield* chat.generateText({ prompt: [], toolkit })
  }
  yield* Console.log(turn.text)
})

const live = Layer.mergeAll(
  ChatCompletions.pipe(Layer.provide(NodeHttp.layer)),
  Host.layer({
    rules: [{ server: "everything", tool: "get-sum", decide: "allow", because: "it only adds" }]
  }).pipe(Layer.provide(NodeServices.layer))
)

await Effect.runPromise(Effect.provide(program, live))
