/**
 * The keys of `_meta` that the protocol gives a meaning to (M-META).
 *
 * `_meta` is an open object on requests, results, notifications and many types inside them. Keys of others are kept
 * as they are; a `Revision` writes the keys of a request.
 *
 * @since 0.1.0
 */

/**
 * Request, modern era: the version the request is written in. Required there.
 *
 * @category keys
 * @since 0.1.0
 */
export const protocolVersion = "io.modelcontextprotocol/protocolVersion"

/**
 * Request, modern era: who sends it. Self-reported, never a base for decisions.
 *
 * @category keys
 * @since 0.1.0
 */
export const clientInfo = "io.modelcontextprotocol/clientInfo"

/**
 * Request, modern era: what the client can do for this request. Required there.
 *
 * @category keys
 * @since 0.1.0
 */
export const clientCapabilities = "io.modelcontextprotocol/clientCapabilities"

/**
 * Request, modern era: asks for log notifications of this request, from this level up.
 *
 * @category keys
 * @since 0.1.0
 */
export const logLevel = "io.modelcontextprotocol/logLevel"

/**
 * Result, modern era: who answered. Self-reported.
 *
 * @category keys
 * @since 0.1.0
 */
export const serverInfo = "io.modelcontextprotocol/serverInfo"

/**
 * Notification or result of a `subscriptions/listen` request: the id of that request, of the same JSON type.
 *
 * @category keys
 * @since 0.1.0
 */
export const subscriptionId = "io.modelcontextprotocol/subscriptionId"

/**
 * Messages that belong to a task of 2025-11-25: `{ taskId }`.
 *
 * @category keys
 * @since 0.1.0
 */
export const relatedTask = "io.modelcontextprotocol/related-task"

/**
 * Request, every revision: asks for progress notifications that carry this token.
 *
 * @category keys
 * @since 0.1.0
 */
export const progressToken = "progressToken"

/**
 * W3C trace context; the one deliberate exception to the rule of prefixes.
 *
 * @category keys
 * @since 0.1.0
 */
export const traceKeys = ["traceparent", "tracestate", "baggage"] as const

/**
 * The keys only the library writes into a request. A caller's value for one of them is ignored (T-MOD-3), and none of
 * them goes to a legacy server (L-META-3).
 *
 * @category keys
 * @since 0.1.0
 */
export const reserved: ReadonlyArray<string> = [protocolVersion, clientInfo, clientCapabilities, logLevel]

const key =
  /^(?:[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/

/**
 * Whether a text is a well-formed key: an optional prefix of labels joined by dots and ended by a slash, then a name
 * (M-META-1 to M-META-4). For checking what is sent; what is received is taken as it is.
 *
 * @category guards
 * @since 0.1.0
 */
export const isKey = (text: string): boolean => text.length <= 1024 && key.test(text)
