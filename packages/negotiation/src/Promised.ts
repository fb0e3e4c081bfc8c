/**
 * The promised sets: what always leads to the handshake, and what never does. One test stands for each member.
 *
 * The machine does more than is promised (any JSON-RPC error falls back, an exit does too), never less. A change here is
 * a change of what users were told.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"

/**
 * HTTP statuses of the probe that lead to the handshake (U-02).
 *
 * @category promises
 * @since 0.1.0
 */
export const httpFallbackStatuses = [400, 404, 405] as const

/**
 * JSON-RPC codes that lead to the handshake over HTTP (U-02); -32022 after its list was read (U-04).
 *
 * @category promises
 * @since 0.1.0
 */
export const httpFallbackCodes = [-32020, -32021, -32022, -32601] as const

/**
 * JSON-RPC codes that lead to the handshake on a pipe (U-03); -32022 after its list was read (U-04).
 *
 * @category promises
 * @since 0.1.0
 */
export const stdioFallbackCodes = [-32020, -32021, -32022, -32601] as const

/**
 * How long the probe waits on a pipe: 5 seconds, or the configured stdio timeout if that is shorter (U-03).
 *
 * @category promises
 * @since 0.1.0
 */
export const stdioTimeout = (configured: Duration.Duration): Duration.Duration =>
  Duration.min(Duration.seconds(5), configured)

/**
 * HTTP statuses that never fall back, first and last of each range (U-05). Network failures never do either.
 *
 * @category promises
 * @since 0.1.0
 */
export const neverFallBack = [
  [401, 401],
  [403, 403],
  [500, 599]
] as const

/**
 * How much of an HTTP body stands in an error message, in code points (U-05).
 *
 * @category promises
 * @since 0.1.0
 */
export const bodyCodePoints = 200
