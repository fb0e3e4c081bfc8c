/**
 * Ways a wire can fail, each with the facts.
 *
 * A transport never says what a failure means for the era of a server; negotiation does.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The command could not be started: it does not exist, may not be run, or its folder is missing.
 *
 * @category errors
 * @since 0.1.0
 */
export class SpawnFailed extends Schema.TaggedError<SpawnFailed>()("SpawnFailed", {
  /** The command as it was configured. */
  command: Schema.String,
  /** What the platform said, for example `NotFound` or `PermissionDenied`. */
  because: Schema.String
}) {
  override get message() {
    return `could not start \`${this.command}\`: ${this.because}. Check the spelling, and that it is installed and on PATH`
  }
}
