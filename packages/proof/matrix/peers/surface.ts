/** What the servers written for the table of features have in common, beyond `servers/Servers.ts`. */

/** Names that the template `demo://letters/{name}` knows. */
export const names = ["Ada", "Alan", "Grace"]

export const isCancelled = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })

/** Prompts in two pages; no server framework cuts its own lists. */
export const pageOfPrompts = (cursor: string | undefined) =>
  cursor === undefined
    ? { prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }], nextCursor: "more" }
    : { prompts: [{ name: "part" }] }
