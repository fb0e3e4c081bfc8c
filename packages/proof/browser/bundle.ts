/**
 * Bundles for browsers, in memory.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { build } from "rolldown"

/** The bundle could not be made. */
export class BundleFailed extends Schema.TaggedError<BundleFailed>()("BundleFailed", { because: Schema.String }) {
  override get message() {
    return `the bundle could not be made: ${this.because}`
  }
}

export interface Bundle {
  /** Code by file name. */
  readonly files: ReadonlyMap<string, string>
  /** The file that belongs to the entry. */
  readonly entry: string
  /** What the bundle imports and does not hold. */
  readonly outside: ReadonlyArray<string>
}

/** Bundles a module, given as a path or as the name that a program would import. */
export const bundle = Effect.fnUntraced(function* (input: string): Effect.fn.Return<Bundle, BundleFailed> {
  const { output } = yield* Effect.tryPromise({
    try: () =>
      build({
        input: { entry: input },
        cwd: import.meta.dirname,
        platform: "browser",
        write: false,
        logLevel: "silent",
        output: { format: "esm", minify: true }
      }),
    catch: (cause) => new BundleFailed({ because: cause instanceof Error ? cause.message : String(cause) })
  })
  const chunks = output.filter((file) => file.type === "chunk")
  const files = new Map(chunks.map(({ code, fileName }) => [fileName, code]))
  const imported = chunks.flatMap(({ dynamicImports, imports }) => [...imports, ...dynamicImports])
  return {
    files,
    entry: chunks.find(({ isEntry }) => isEntry)?.fileName ?? "",
    outside: [...new Set(imported.filter((name) => !files.has(name)))]
  }
})
