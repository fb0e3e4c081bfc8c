import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { compared } from "../../../docs/test/printed.ts"
import { page, parts } from "./page.ts"
import { Reason } from "../src/Reason.ts"

const text = readFileSync(page, "utf8")

describe("docs/negotiation.md", () => {
  for (const name of Object.keys(parts))
    it(`holds the ${name} as the code has it (else run test/page.ts --write)`, () => {
      const { held, printed } = compared(page, parts, name)
      assert.strictEqual(held, printed)
    })

  it("U-61 has a line for every reason", () => {
    const tags = Reason.members.map((member) => member.fields._tag.schema.literal)
    assert.deepStrictEqual(
      tags.filter((tag) => !text.includes(`\`${tag}\``)),
      []
    )
    assert.lengthOf(tags, 23)
  })
})
