/** Pieces of the messages of authorization errors. */

/** A code of OAuth, and what the other side said of it. */
export const about = (error: string, description: string | undefined): string =>
  description === undefined || description === "" ? error : `${error} (${description})`

export const listed = (items: ReadonlyArray<string>): string => (items.length === 0 ? "none" : items.join(", "))
