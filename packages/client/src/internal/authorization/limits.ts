/** Every number of authorization. Public through `Authorization`. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"

const duration = (name: string, value: Duration.Input) =>
  Context.Reference<Duration.Duration>(`@mcp-effect/client/Authorization/${name}`, {
    defaultValue: () => Duration.fromInputUnsafe(value)
  })

const count = (name: string, value: number) =>
  Context.Reference<number>(`@mcp-effect/client/Authorization/${name}`, { defaultValue: () => value })

/**
 * How many rounds of authorization one request may take: renewing, signing in, widening. 3.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxRounds = count("MaxRounds", 3)

/**
 * How long a person may take to sign in. 5 minutes.
 *
 * @category bounds
 * @since 0.1.0
 */
export const SignInTimeout = duration("SignInTimeout", "5 minutes")

/**
 * How long one request for metadata, registration or a token may take. 30 seconds.
 *
 * @category bounds
 * @since 0.1.0
 */
export const EndpointTimeout = duration("EndpointTimeout", "30 seconds")

/**
 * The largest document read from an authorization server, in bytes. 1 MiB.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxDocumentBytes = count("MaxDocumentBytes", 1024 * 1024)

/**
 * How long before its end a token is renewed; at most half its life. 60 seconds.
 *
 * @category bounds
 * @since 0.1.0
 */
export const RenewBefore = duration("RenewBefore", "60 seconds")
