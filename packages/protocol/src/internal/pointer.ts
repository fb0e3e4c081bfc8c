/** JSON pointers (RFC 6901). */
export const pointer = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")
