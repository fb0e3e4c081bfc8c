/**
 * Lists page by page, within bounds, whether all at once or as a stream. Only an absent cursor ends a list (T-LIST-1 to
 * T-LIST-3).
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import type * as Method from "@mcp-effect/protocol/Method"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Items } from "../LiveList.ts"
import type { Listings, ListMethod } from "../McpClient.ts"
import { ListTooLong, McpClientError } from "../McpClientError.ts"

type Ask<How> = <M extends Method.Method>(
  method: M,
  params: Method.Params<M>,
  how: How
) => Effect.Effect<Method.Result<M>, McpClientError>

interface Row<M extends ListMethod> {
  readonly ask: <How>(
    request: Ask<How>,
    cursor: string | undefined,
    how: How
  ) => Effect.Effect<Listings[M], McpClientError>
  readonly items: (page: Listings[M]) => ReadonlyArray<Items[M]>
}

const at = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor })

/** How a page of each list is asked for, and what is on it. */
export const rows: { readonly [M in ListMethod]: Row<M> } = {
  "tools/list": { ask: (request, cursor, how) => request("tools/list", at(cursor), how), items: ({ tools }) => tools },
  "prompts/list": {
    ask: (request, cursor, how) => request("prompts/list", at(cursor), how),
    items: ({ prompts }) => prompts
  },
  "resources/list": {
    ask: (request, cursor, how) => request("resources/list", at(cursor), how),
    items: ({ resources }) => resources
  },
  "resources/templates/list": {
    ask: (request, cursor, how) => request("resources/templates/list", at(cursor), how),
    items: ({ resourceTemplates }) => resourceTemplates
  }
}

interface List<Page, Item> {
  readonly server: string
  readonly method: string
  readonly page: (cursor: string | undefined) => Effect.Effect<Page, McpClientError>
  readonly items: (page: Page) => ReadonlyArray<Item>
}

interface Paged {
  readonly nextCursor?: string | undefined
}

/** Asks for one page after the other, and says when that goes too far. */
const turning = Effect.fnUntraced(function* <Page, Item>({ items, method, page, server }: List<Page, Item>) {
  const maxPages = yield* Defaults.MaxPages
  const maxItems = yield* Defaults.MaxItems
  const seen = new Set<string>()
  let pages = 0
  let count = 0

  const giveUp = (because: string) =>
    new McpClientError({ server, reason: new ListTooLong({ method, pages, items: count, because }) })

  return Effect.fnUntraced(function* (cursor: string | undefined): Effect.fn.Return<Page, McpClientError> {
    if (cursor !== undefined) {
      if (pages >= maxPages) return yield* giveUp(`more than ${maxPages} pages (MaxPages)`)
      if (seen.has(cursor)) return yield* giveUp("the server gave a cursor it had given before")
      seen.add(cursor)
    }
    const found = yield* page(cursor)
    pages++
    count += items(found).length
    return count > maxItems ? yield* giveUp(`more than ${maxItems} items (MaxItems)`) : found
  })
})

/** The items of all pages. */
export const walk = Effect.fnUntraced(function* <Page extends Paged, Item>(
  list: List<Page, Item>
): Effect.fn.Return<ReadonlyArray<Item>, McpClientError> {
  const turn = yield* turning(list)
  const items: Array<Item> = []
  let cursor: string | undefined
  do {
    const page = yield* turn(cursor)
    for (const item of list.items(page)) items.push(item)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items
})

/** The pages as they come. */
export const stream = <Page extends Paged, Item>(list: List<Page, Item>): Stream.Stream<Page, McpClientError> =>
  Stream.unwrap(
    Effect.map(turning(list), (turn) =>
      Stream.paginate(undefined as string | undefined, (cursor) =>
        Effect.map(turn(cursor), (page) => [[page], Option.fromUndefinedOr(page.nextCursor)] as const)
      )
    )
  )
