/** Walks a list page by page, within bounds. Only an absent cursor ends a list (T-LIST-1 to T-LIST-3). */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as Effect from "effect/Effect"
import { ListTooLong, McpClientError } from "../McpClientError.ts"

export const walk = Effect.fnUntraced(function* <
  Page extends { readonly nextCursor?: string | undefined },
  Item
>(list: {
  readonly server: string
  readonly method: string
  readonly page: (cursor: string | undefined) => Effect.Effect<Page, McpClientError>
  readonly items: (page: Page) => ReadonlyArray<Item>
}): Effect.fn.Return<ReadonlyArray<Item>, McpClientError> {
  const maxPages = yield* Defaults.MaxPages
  const maxItems = yield* Defaults.MaxItems
  const seen = new Set<string>()
  const items: Array<Item> = []
  let cursor: string | undefined
  let pages = 0

  const giveUp = (because: string) =>
    new McpClientError({
      server: list.server,
      reason: new ListTooLong({ method: list.method, pages, items: items.length, because })
    })

  do {
    const page = yield* list.page(cursor)
    pages++
    for (const item of list.items(page)) items.push(item)
    cursor = page.nextCursor
    if (items.length > maxItems) return yield* giveUp(`more than ${maxItems} items (MaxItems)`)
    if (cursor === undefined) break
    if (pages >= maxPages) return yield* giveUp(`more than ${maxPages} pages (MaxPages)`)
    if (seen.has(cursor)) return yield* giveUp("the server gave a cursor it had given before")
    seen.add(cursor)
  } while (true)

  return items
})
