import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { held, page, parts } from "./page.ts"
import { Reason } from "../src/Reason.ts"

const text = readFileSync(page, "utf8")
// A formatter pads the tables of the page; padding says nothing.
const bare = (part: string | undefined) => part?.replaceAll(/ +/gu, " ").replaceAll(/-{3,}/gu, "---").trim()

describe("docs/negotiation.md", () => {
  for (const [name, part] of Object.entries(parts))
    it(`holds the ${name} as the code has it (else run test/page.ts --write)`, () => {
      assert.strictEqual(bare(held(text, name)), bare(part()))
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
