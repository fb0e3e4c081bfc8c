/**
 * The inputs a file declares, as VS Code has them.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Input } from "../Configuration.ts"
import * as Fields from "./configurationFields.ts"
import * as Text from "./configurationText.ts"

const decode = Schema.decodeUnknownResult(Fields.input)

/** What was declared, by id; what cannot be read counts as not declared. */
export const declared = (root: Text.Node): ReadonlyMap<string, Input> => {
  const inside = Text.child(root, "mcp")
  const lists = [Text.child(root, "inputs"), inside === undefined ? undefined : Text.child(inside, "inputs")]
  const inputs = lists
    .flatMap((list) => (list?.type === "array" ? (list.children ?? []) : []))
    .flatMap((node): ReadonlyArray<Input> => {
      const input = decode(Text.value(node))
      if (Result.isFailure(input)) return []
      const { default: otherwise, description, id, options, password } = input.success
      return [
        {
          id,
          password: password ?? false,
          ...(description === undefined ? {} : { description }),
          ...(otherwise === undefined ? {} : { default: otherwise }),
          ...(options === undefined
            ? {}
            : { options: options.map((option) => (typeof option === "string" ? option : option.value)) })
        }
      ]
    })
  return new Map(inputs.toReversed().map((input) => [input.id, input]))
}
