/**
 * The numbers of the client's streams, beside those of `@mcp-effect/protocol/Defaults`.
 *
 * Each is a `Context.Reference`: it never appears in an effect's requirements, and
 * `Effect.provideService(LiveDebounce, Duration.seconds(1))` changes it for everything inside.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"

const duration = (name: string, value: Duration.Input) =>
  Context.Reference<Duration.Duration>(`@mcp-effect/client/Limits/${name}`, {
    defaultValue: () => Duration.fromInputUnsafe(value)
  })

const count = (name: string, value: number) =>
  Context.Reference<number>(`@mcp-effect/client/Limits/${name}`, { defaultValue: () => value })

/**
 * How many notifications or log messages wait for a slow reader; past it the oldest are dropped. 1,024.
 *
 * @category bounds
 * @since 0.1.0
 */
export const NotificationBuffer = count("NotificationBuffer", 1_024)

/**
 * How many requests of a server are answered at one time; past it they are dropped and reported. Also how many questions
 * one round of a call may ask. 256.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxOpenQuestions = count("MaxOpenQuestions", 256)

/**
 * How many changes wait for a slow reader. The same change never waits twice, so this bounds only the parts of watched
 * resources; past it the watched resource itself is named in their place. 1,024.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxPendingChanges = count("MaxPendingChanges", 1_024)

/**
 * How many resources are subscribed to at once when a legacy session begins. 8.
 *
 * @category bounds
 * @since 0.1.0
 */
export const SubscribeConcurrency = count("SubscribeConcurrency", 8)

/**
 * How long a live list waits after a change for more of them before it fetches. 100 milliseconds.
 *
 * @category time
 * @since 0.1.0
 */
export const LiveDebounce = duration("LiveDebounce", "100 millis")

/**
 * The longest a live list waits before it fetches again. A list that changes again within this time is fetched after a
 * pause that grows from `LiveDebounce` up to here, so that a server which reports a change after every fetch is not asked
 * without end. 5 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const LiveMaxPause = duration("LiveMaxPause", "5 seconds")

/**
 * How many events of one streamed call wait for a slow reader; past it the oldest are dropped and reported, the result
 * never. 16,384.
 *
 * @category bounds
 * @since 0.1.0
 */
export const CallEventBuffer = count("CallEventBuffer", 16_384)

/**
 * How long a live list waits for the server to confirm that it reports changes, before it fetches all the same; and how
 * long what is watched waits for that when a subscription or a session was lost, before all of it counts as changed. 5
 * seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const WatchPatience = duration("WatchPatience", "5 seconds")

/**
 * How long a subscription must have lasted for its end to count as the first trouble and not as one more in a row: proxies
 * cut quiet streams. 30 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const SteadyAfter = duration("SteadyAfter", "30 seconds")

/**
 * How long to wait before asking after a task again when the server does not say. 1 second.
 *
 * @category time
 * @since 0.1.0
 */
export const TaskPollPause = duration("TaskPollPause", "1 second")

/**
 * The shortest time between two questions after a task, whatever the server says. 100 milliseconds.
 *
 * @category time
 * @since 0.1.0
 */
export const TaskPollLeast = duration("TaskPollLeast", "100 millis")

/**
 * The longest time between two questions after a task, whatever the server says. 1 minute.
 *
 * @category time
 * @since 0.1.0
 */
export const TaskPollMost = duration("TaskPollMost", "1 minute")

/**
 * How long a task that is given up may take to be cancelled. 5 seconds.
 *
 * @category time
 * @since 0.1.0
 */
export const TaskCancelTimeout = duration("TaskCancelTimeout", "5 seconds")
