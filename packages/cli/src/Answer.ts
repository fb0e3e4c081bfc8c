/**
 * What a command answers on standard output: JSON for programs, or text for people.
 *
 * @since 0.1.0
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Render from "./Render.ts"
import { screen, type Screen } from "./Screen.ts"

/**
 * Prints the value as JSON, or as the text of it for the screen at hand. A text that ends its last line itself gets no
 * other end.
 *
 * @category running
 * @since 0.1.0
 */
export const print = (
  { json }: { readonly json: boolean },
  value: unknown,
  text: (on: Screen) => string
): Effect.Effect<void, never, Effect.Services<typeof screen>> =>
  json ? Console.log(Render.json(value)) : Effect.flatMap(screen, (on) => Console.log(text(on).replace(/\n$/, "")))
