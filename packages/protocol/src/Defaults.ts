/**
 * Every number the library uses when nobody says otherwise.
 *
 * Each is a `Context.Reference`: it never appears in an effect's requirements, and
 * `Effect.provideService(RequestTimeout, Duration.seconds(5))` changes it for everything inside.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as limits from "./internal/limits.ts"

const duration = (name: string, value: Duration.Input) =>
  Context.Reference<Duration.Duration>(`@mcp-effect/protocol/Defaults/${name}`, {
    defaultValue: () => Duration.fromInputUnsafe(value)
  })

const count = (name: string, value: number) =>
  Context.Reference<number>(`@mcp-effect/protocol/Defaults/${name}`, { defaultValue: () => value })

/**
 * The whole of connecting: opening, probing, shaking hands, falling back. 60 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const ConnectTimeout = duration("ConnectTimeout", "60 seconds")

/**
 * How long a pipe may stay silent before a request fails, and one of the two bounds of the probe. 30 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const StdioTimeout = duration("StdioTimeout", "30 seconds")

/**
 * How long the probe waits on a pipe; the shorter of this and `StdioTimeout` counts. 5 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const ProbeTimeout = duration("ProbeTimeout", "5 seconds")

/**
 * Added to the probe's patience on a pipe, for servers that a package runner downloads first. None.
 *
 * @category time
 * @since 0.1.0
 */
export const StartupGrace = duration("StartupGrace", 0)

/**
 * How long `initialize` may take. 30 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const HandshakeTimeout = duration("HandshakeTimeout", "30 seconds")

/**
 * How long any other request may take. 60 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const RequestTimeout = duration("RequestTimeout", "60 seconds")

/**
 * Each step of stopping a child process: after closing its stdin, and again after asking it to terminate. 2 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const ShutdownPatience = duration("ShutdownPatience", "2 seconds")

/**
 * How long closing may wait for the DELETE that ends an HTTP session. 2 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const SessionDeleteTimeout = duration("SessionDeleteTimeout", "2 seconds")

/**
 * The largest message, line or event that is read, in bytes. 64 MiB.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxMessageBytes = count("MaxMessageBytes", limits.bytes)

/**
 * How much of a child's standard error is kept for error messages, in bytes. 64 KiB.
 *
 * @category bounds
 * @since 0.1.0
 */
export const StderrTailBytes = count("StderrTailBytes", 64 * 1024)

/**
 * How many pages of one list are walked. 1,000.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxPages = count("MaxPages", 1_000)

/**
 * How many items of one list are collected. 100,000.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxItems = count("MaxItems", 100_000)

/**
 * How deep one message may nest. 512.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxMessageDepth = count("MaxMessageDepth", limits.depth)

/**
 * How many members and items one message may have in all. 4 Mi.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxMessageMembers = count("MaxMessageMembers", limits.members)

/**
 * The longest a request may take when progress keeps resetting its clock. 10 minutes.
 *
 * @category time
 * @since 0.1.0
 */
export const RequestCap = duration("RequestCap", "10 minutes")

/**
 * How long a tool call of a host may take, approval and questions not counted. 60 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const ToolCallTimeout = duration("ToolCallTimeout", "60 seconds")

/**
 * How long HTTP+SSE waits for the event that names the address to post to. 10 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const EndpointTimeout = duration("EndpointTimeout", "10 seconds")

/**
 * How often one call may come back with questions. 10.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxInputRounds = count("MaxInputRounds", 10)

/**
 * How often one operation may go through authorization. 3.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxAuthorizationRounds = count("MaxAuthorizationRounds", 3)

/**
 * The first pause before connecting, listening or starting again; it doubles each time. 250 milliseconds.
 *
 * @category time
 * @since 0.1.0
 */
export const ReconnectPause = duration("ReconnectPause", "250 millis")

/**
 * The longest such pause. 30 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const ReconnectMaxPause = duration("ReconnectMaxPause", "30 seconds")

/**
 * How often in a row it is tried again. 10.
 *
 * @category bounds
 * @since 0.1.0
 */
export const ReconnectAttempts = count("ReconnectAttempts", 10)

/**
 * How long a legacy verdict on conventional evidence is remembered, in the running program only. 1 hour.
 *
 * @category time
 * @since 0.1.0
 */
export const ConventionalVerdictAge = duration("ConventionalVerdictAge", "1 hour")

/**
 * How long a legacy verdict on definitive evidence is remembered, on disk too. 24 hours.
 *
 * @category time
 * @since 0.1.0
 */
export const DefinitiveVerdictAge = duration("DefinitiveVerdictAge", "24 hours")
