/**
 * A list that follows the server: `McpClient.live`.
 *
 * It is fetched once, and again when the server says that it changed. Changes that come close together cost one fetch
 * (T-LIST-4), and there is never more than one at a time.
 *
 * @since 0.1.0
 */
import type * as Prompt from "@mcp-effect/protocol/Prompt"
import type * as Resource from "@mcp-effect/protocol/Resource"
import type * as Tool from "@mcp-effect/protocol/Tool"
import type { McpClientError } from "./McpClientError.ts"

/**
 * The newest that is known of a list.
 *
 * @category models
 * @since 0.1.0
 */
export interface LiveList<A> {
  /** The items as they were last fetched. A fetch that fails leaves them as they are. */
  readonly items: ReadonlyArray<A>
  /**
   * Why the items may be old: the last fetch failed, or changes can no longer be heard. `undefined` when all is well.
   * The next fetch that succeeds takes it away.
   */
  readonly trouble: McpClientError | undefined
}

/**
 * What each live list holds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Items {
  readonly "tools/list": Tool.Tool
  readonly "prompts/list": Prompt.Prompt
  readonly "resources/list": Resource.Resource
  readonly "resources/templates/list": Resource.Template
}
