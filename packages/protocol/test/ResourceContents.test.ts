import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as ResourceContents from "../src/ResourceContents.ts"

describe("what a resource holds", () => {
  it.prop("is text or bytes, and told apart", [ResourceContents.Contents], ([contents]) => {
    const { isBlob, isText } = ResourceContents
    assert.strictEqual(isText(contents), Schema.is(ResourceContents.TextContents)(contents))
    assert.strictEqual(isBlob(contents), !isText(contents))
    assert.isString(isText(contents) ? contents.text : isBlob(contents) ? contents.blob : undefined)
  })
})
