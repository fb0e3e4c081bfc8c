/**
 * What a program can do for a server that asks: fill in a form, open an address, ask a language model, name folders.
 *
 * Handlers are one value given when connecting. What is there is what the server is told; what is not there the server
 * may not ask. The same handler answers a request of the server (legacy era) and an input request inside an answer
 * (modern era), so it never knows which it was.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcp-effect/protocol/Capabilities"
import type * as Elicitation from "@mcp-effect/protocol/Elicitation"
import type * as Roots from "@mcp-effect/protocol/Roots"
import type * as Sampling from "@mcp-effect/protocol/Sampling"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * A handler will not or cannot answer. In the legacy era the server gets this as an error; in the modern era the call
 * that asked fails with `InputRequired`. A user who says no is no failure: that is the answer `{ action: "decline" }`.
 *
 * What to change: nothing, when refusing was meant. Otherwise look at the handler: `because` is its own.
 *
 * @category errors
 * @since 0.1.0
 */
export class HandlerRefused extends Schema.TaggedError<HandlerRefused>()("HandlerRefused", {
  because: Schema.String
}) {
  override get message() {
    return this.because
  }
}

/**
 * The handlers. Each may need services, which `connect` and `layer` then need too.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handlers<R = never> {
  /** Asking the user. Declared as `elicitation`, with the modes that are there (U-58). */
  readonly elicitation?: {
    /** Fills in a form: `requestedSchema` says which fields. */
    readonly form?: (question: Elicitation.FormParams) => Effect.Effect<Elicitation.Result, HandlerRefused, R>
    /** Sends the user to an address. Show it whole and ask before opening it; accept only `https:`. */
    readonly url?: (question: Elicitation.UrlParams) => Effect.Effect<Elicitation.Result, HandlerRefused, R>
  }
  /** Asks a language model on the server's behalf. Let a person see what is asked and what is answered. */
  readonly sampling?: (question: Sampling.Params) => Effect.Effect<Sampling.Result, HandlerRefused, R>
  /** Whether `sampling` can use tools. */
  readonly samplingTools?: boolean
  /** The folders the server may work in, as addresses that begin with `file://`. With any other, none is sent. */
  readonly roots?: Effect.Effect<ReadonlyArray<Roots.Root>, HandlerRefused, R>
}

/**
 * What the server is told: a capability for each handler that is there. That roots may change (`McpClient.rootsChanged`)
 * only legacy servers are told.
 *
 * @category accessors
 * @since 0.1.0
 */
export const capabilities = <R>({ elicitation, roots, sampling, samplingTools }: Handlers<R>): Capabilities.Client => ({
  ...(elicitation?.form === undefined && elicitation?.url === undefined
    ? {}
    : {
        elicitation: {
          ...(elicitation.form === undefined ? {} : { form: {} }),
          ...(elicitation.url === undefined ? {} : { url: {} })
        }
      }),
  ...(sampling === undefined ? {} : { sampling: samplingTools === true ? { tools: {} } : {} }),
  ...(roots === undefined ? {} : { roots: { listChanged: true } })
})
