/**
 * A made-up server for the tests of programs that use a client: what it offers, and what it answers. `McpClient.layerTest`
 * makes a client of it, without process, socket or time.
 *
 * Everything a client does is real: bounds, questions and handlers, caching, changes and typed errors. Only the answers are
 * yours. To test against the bytes of real servers use `@mcp-effect/testing` instead.
 *
 * @since 0.1.0
 */
import type * as Completion from "@mcp-effect/protocol/Completion"
import type * as Content from "@mcp-effect/protocol/Content"
import type { InputRequired } from "@mcp-effect/protocol/InputRequired"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type * as Prompt from "@mcp-effect/protocol/Prompt"
import type * as Resource from "@mcp-effect/protocol/Resource"
import type * as ResourceContents from "@mcp-effect/protocol/ResourceContents"
import type * as Tool from "@mcp-effect/protocol/Tool"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Change } from "./Change.ts"
import type { McpClientError } from "./McpClientError.ts"
import type { ServerLog } from "./ServerLog.ts"

/**
 * What a made-up tool gives: text, a result, or questions for the client (then the call comes again with the answers).
 *
 * @category models
 * @since 0.1.0
 */
export type Given =
  | string
  | {
      readonly content?: ReadonlyArray<Content.Block>
      readonly structuredContent?: unknown
      readonly isError?: boolean
    }
  | InputRequired

/**
 * A made-up tool: its name alone, or its whole definition, and what a call gives.
 *
 * A call that fails does so as it would in life: any `McpClientError` reaches the caller as it is. `Effect.never` is a tool
 * that does not answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestTool {
  readonly tool: string | Tool.Tool
  readonly call: (args: JsonRpc.JsonObject, params: Tool.CallParams) => Effect.Effect<Given, McpClientError>
}

/**
 * A made-up prompt: its name alone, or its whole definition, and its messages; a text is one message of the user.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestPrompt {
  readonly prompt: string | Prompt.Prompt
  readonly get: (
    args: Readonly<Record<string, string>>
  ) => Effect.Effect<string | ReadonlyArray<Prompt.Message>, McpClientError>
}

/**
 * A made-up resource: its address alone, or its whole definition, and its contents.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestResource {
  readonly resource: string | Resource.Resource
  readonly read: Effect.Effect<string | ReadonlyArray<ResourceContents.Contents>, McpClientError>
}

/**
 * A made-up server of the modern era. What is absent it does not have, and says so as a real server would.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestServer {
  /** What it says it is called. `test server` by default. */
  readonly name?: string
  readonly instructions?: string
  readonly tools?: ReadonlyArray<TestTool>
  readonly prompts?: ReadonlyArray<TestPrompt>
  readonly resources?: ReadonlyArray<TestResource>
  readonly resourceTemplates?: ReadonlyArray<Resource.Template>
  readonly complete?: (params: Completion.Params) => Effect.Effect<Completion.Result["completion"], McpClientError>
  /** Methods of extensions, by name; what they give is the result. */
  readonly extensions?: {
    readonly [method: string]: (params: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, McpClientError>
  }
  /**
   * What changes. It runs while somebody watches, so a `Stream.fromQueue` loses nothing; a watcher hears what it asked for.
   */
  readonly changes?: Stream.Stream<Change>
  /** What it logs. It runs from the beginning; `logs` misses what was before. */
  readonly logs?: Stream.Stream<Pick<ServerLog, "level" | "data"> & Partial<Pick<ServerLog, "logger">>>
  /** Any other notification. It runs from the beginning too. */
  readonly notifications?: Stream.Stream<JsonRpc.Notification>
}
