/**
 * Writes the version of the manifest where the client reads it, `src/internal/version.ts`.
 *
 * `pnpm run version` runs it, after the changesets have given the packages their next version.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The source with the version of this manifest in it. */
export const written = (source: string, manifest: string): string =>
  source.replace(
    /^export const version = .*$/m,
    `export const version = ${JSON.stringify(JSON.parse(manifest).version)}`
  )

if (import.meta.main) {
  const file = join(import.meta.dirname, "src/internal/version.ts")
  const manifest = readFileSync(join(import.meta.dirname, "package.json"), "utf8")
  writeFileSync(file, written(readFileSync(file, "utf8"), manifest))
}
