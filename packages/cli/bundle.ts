/**
 * The published command as one bundle: `dist/mcp-effect.js`, and beside it in `dist/bin` the parts that are loaded when a
 * command needs them. Hundreds of small modules would take longer to find than to run.
 */
import { build, type OutputChunk } from "rolldown"

/** Writes the bundle into a folder. Gives its parts, the entry first. */
export const bundle = async (folder: string): Promise<ReadonlyArray<OutputChunk>> => {
  const { output } = await build({
    input: { "mcp-effect": "./src/bin.ts" },
    cwd: import.meta.dirname,
    platform: "node",
    logLevel: "warn",
    // Some packages call `require` with a computed function in what `main` names; a bundler cannot follow that.
    resolve: { mainFields: ["module", "main"] },
    plugins: [
      {
        // The bundler loses names that go through `export *` from CommonJS to a module imported at need.
        name: "undici by name",
        load: {
          filter: { id: /platform-node\/dist\/Undici\.js$/ },
          handler: () => 'import undici from "undici"; export const Agent = undici.Agent; export default undici'
        }
      }
    ],
    output: { dir: folder, format: "esm", minify: true, chunkFileNames: "bin/[name].js" }
  })
  return output.filter((file) => file.type === "chunk")
}

if (import.meta.main) await bundle(`${import.meta.dirname}/dist`)
