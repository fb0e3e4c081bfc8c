/**
 * The catalogue of a host as a toolkit of `effect/ai`, so that a language model can call its tools (U-65).
 *
 * `make` reads the catalogue when it runs. Give the effect itself to `LanguageModel.generateText`, and each turn sees the
 * tools there are at its beginning. Calls go through the host: approval and time limits hold as for any call.
 *
 * @since 0.1.0
 */
import type * as Content from "@mcp-effect/protocol/Content"
import type * as CallTool from "@mcp-effect/protocol/Tool"
import * as Predicate from "effect/Predicate"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { OwnedTool } from "./Catalogue.ts"
import type { CallOptions, Host } from "./Host.ts"

/**
 * A tool of the catalogue as a model sees it. Success is the result as the server gave it; what the model reads of it
 * is `modelOutput`. Failure is a text, and is returned to the model.
 *
 * @category models
 * @since 0.1.0
 */
export type CatalogueTool = Tool.Tool<
  string,
  {
    readonly parameters: typeof Schema.Unknown
    readonly success: typeof Schema.Unknown
    readonly failure: typeof Schema.String
    readonly failureMode: "return"
  }
>

/**
 * The tools by their names in the catalogue.
 *
 * @category models
 * @since 0.1.0
 */
export type CatalogueToolkit = Toolkit.WithHandler<Record<string, CatalogueTool>>

/**
 * How the toolkit is made.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Which tools the model sees; all of them by default. */
  readonly only?: (tool: OwnedTool) => boolean
  /**
   * Which calls `effect/ai` hands back as `tool-approval-request` instead of running them; none by default. This comes
   * before the host's own approval and does not replace it.
   */
  readonly needsApproval?: (tool: OwnedTool, args: unknown) => boolean
  /** How calls are made. */
  readonly call?: CallOptions
}

/** What a model can read of a block: texts as they are, other things as files or as a word about them. */
const part = (block: Content.Block): Prompt.ToolModelOutputPart => {
  switch (block.type) {
    case "text":
      return Prompt.textPart({ text: block.text })
    case "image":
    case "audio":
      return Prompt.filePart({ mediaType: block.mimeType, data: block.data })
    case "resource_link":
      return Prompt.textPart({ text: `${block.title ?? block.name}: ${block.uri}` })
    case "resource":
      return "text" in block.resource
        ? Prompt.textPart({ text: String(block.resource.text) })
        : Prompt.filePart({
            mediaType: block.resource.mimeType ?? "application/octet-stream",
            fileName: block.resource.uri,
            data: block.resource.blob
          })
    default:
      return Prompt.textPart({ text: JSON.stringify(block) })
  }
}

/**
 * What a model reads of a result: its content, or its structured content where there is no other.
 *
 * @category formatting
 * @since 0.1.0
 */
export const modelOutput = (result: CallTool.CallResult): ReadonlyArray<Prompt.ToolModelOutputPart> =>
  result.content.length === 0 && result.structuredContent !== undefined
    ? [Prompt.textPart({ text: JSON.stringify(result.structuredContent) })]
    : result.content.map(part)

const words = (result: CallTool.CallResult): string =>
  modelOutput(result)
    .map((part) => (part.type === "text" ? part.text : `(${part.mediaType})`))
    .join("\n")

/**
 * The toolkit of what is in the catalogue now.
 *
 * A tool that fails, an error of the host or of the server, and a refused call with a `deniedMessage` are texts the model
 * reads as failures. A refused call without such a message is an empty one (U-57).
 *
 * @example
 * ```ts
 * import { AiToolkit, Host } from "@mcp-effect/host"
 * import { Effect } from "effect"
 * import { LanguageModel } from "effect/ai"
 *
 * export const turn = Effect.gen(function* () {
 *   const host = yield* Host.Host
 *   return yield* LanguageModel.generateText({ prompt: "What is in the folder?", toolkit: AiToolkit.make(host) })
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  host: Host["Service"],
  options: Options = {}
): Effect.fn.Return<CatalogueToolkit> {
  const { tools: catalogue } = yield* SubscriptionRef.get(host.catalogue)
  const { call, needsApproval, only = () => true } = options
  const tools: Array<CatalogueTool> = []
  const handlers: Record<string, (args: unknown) => Effect.Effect<unknown, string>> = Object.create(null)

  for (const owned of catalogue.values()) {
    if (!only(owned)) continue
    const { name, tool } = owned
    tools.push(
      Tool.dynamic(name, {
        parameters: tool.inputSchema,
        description: tool.description,
        success: Schema.Unknown,
        failure: Schema.String,
        failureMode: "return",
        toModelOutput: modelOutput,
        needsApproval: needsApproval === undefined ? undefined : (args: unknown) => needsApproval(owned, args)
      }).annotate(Tool.Strict, false)
    )
    handlers[name] = (args) =>
      Predicate.isReadonlyObject(args)
        ? host.callTool(name, args, call).pipe(
            Effect.mapError((error) =>
              error._tag === "HostError" && error.reason._tag === "ToolDenied" ? "" : error.message
            ),
            Effect.filterOrFail(({ isError }) => isError !== true, words)
          )
        : Effect.fail("the arguments of a tool must be a JSON object")
  }

  const toolkit = Toolkit.make(...tools)
  return yield* toolkit.pipe(Effect.provideContext(yield* toolkit.toHandlers(handlers)))
})
