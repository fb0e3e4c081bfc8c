/**
 * What a program does for the servers of a host: decides on tool calls, answers questions.
 *
 * Handlers belong to the host, so they survive stops and loads. Each gets the name of the server that asks. Which questions
 * a server may ask the user its entry says; none by default (U-58).
 *
 * @since 0.1.0
 */
import type { HandlerRefused } from "@mcp-effect/client/Handlers"
import type * as Elicitation from "@mcp-effect/protocol/Elicitation"
import type * as Roots from "@mcp-effect/protocol/Roots"
import type * as Sampling from "@mcp-effect/protocol/Sampling"
import type * as Effect from "effect/Effect"
import type * as Approval from "./Approval.ts"

/**
 * The handlers. Each may need services, which the host then needs too.
 *
 * @category models
 * @since 0.1.0
 */
export interface HostHandlers<R = never> {
  /** Decides on tool calls that no rule decides on (U-56). */
  readonly approve?: Approval.Handler<R>
  /** Asks the user. Reaches only servers whose entry allows the mode. */
  readonly elicitation?: {
    /** Fills in a form. */
    readonly form?: (
      question: Elicitation.FormParams,
      server: string
    ) => Effect.Effect<Elicitation.Result, HandlerRefused, R>
    /**
     * Sends the user to an address; the client has refused addresses that may not be opened (`OpenUrl.check`).
     * `OpenUrl.handler` asks first and opens with a `Browser`, which starts no shell.
     */
    readonly url?: (
      question: Elicitation.UrlParams,
      server: string
    ) => Effect.Effect<Elicitation.Result, HandlerRefused, R>
  }
  /** Asks a language model on a server's behalf. Every server is told that it may ask. */
  readonly sampling?: (question: Sampling.Params, server: string) => Effect.Effect<Sampling.Result, HandlerRefused, R>
  /** Whether `sampling` can use tools. */
  readonly samplingTools?: boolean
  /** The folders a server may work in. */
  readonly roots?: (server: string) => Effect.Effect<ReadonlyArray<Roots.Root>, HandlerRefused, R>
}
