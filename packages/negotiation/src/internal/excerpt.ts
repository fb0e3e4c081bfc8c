/** How much foreign text a message or a piece of evidence may hold, in code points (U-05). */
const limit = 200

// Controls, line and paragraph separators, and the marks that turn the direction of text around.
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** The first 200 code points of a text, in one line. */
export const excerpt = (text: string): string =>
  // 401 code units hold at least 201 code points when there are that many, so long texts cost no more than short ones.
  Array.from(text.slice(0, limit * 2 + 1))
    .slice(0, limit)
    .join("")
    .replace(unprintable, " ")

/** The last 200 code points of a text, in one line: the last words of a process matter more than its first. */
export const lastWords = (text: string): string =>
  Array.from(text.slice(-(limit * 2 + 1)).trim())
    .slice(-limit)
    .join("")
    .replace(unprintable, " ")

/** An address without what may be secret in it: user, password, query and fragment. */
export const address = (text: string): string => excerpt(text.replace(/[?#].*$/su, "").replace(/\/\/[^/@]*@/u, "//"))
