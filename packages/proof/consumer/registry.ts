/**
 * A registry on loopback that has the packed packages of this workspace and nothing else. A folder whose `.npmrc` names it
 * for the scope `@mcp-effect` installs them by name, as it would after a release.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { run } from "./command.ts"

const Manifest = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  private: Schema.optionalKey(Schema.Boolean),
  peerDependenciesMeta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
})
const decodeManifest = Schema.decodeEffect(Schema.fromJsonString(Manifest))
const decodeAll = Schema.decodeEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

/** A packed package: what a registry says of it, and its bytes. */
interface Packed {
  readonly name: string
  /** What a program adds itself to use all of it. */
  readonly additions: ReadonlyArray<string>
  readonly packument: (origin: string) => Schema.Json
  readonly tarball: Uint8Array
}

/** Packs the package in a folder with pnpm, which resolves the ranges of the workspace. */
const pack = Effect.fnUntraced(function* (folder: string, to: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(to, `${path.basename(folder)}.tgz`)
  yield* run(["npx", "-y", "pnpm@12", "pack", "--out", file], { cwd: folder })
  const text = yield* run(["tar", "-xzOf", file, "package/package.json"], { cwd: to })
  const { name, peerDependenciesMeta = {}, version } = yield* decodeManifest(text)
  const manifest = yield* decodeAll(text)
  const tarball = yield* fileSystem.readFile(file)
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`
  // a registry tells when a version was released; pnpm does not take what is too young
  const released = "2026-01-01T00:00:00.000Z"
  const packed: Packed = {
    name,
    additions: Object.keys(peerDependenciesMeta),
    tarball,
    packument: (origin) => ({
      name,
      "dist-tags": { latest: version },
      time: { created: released, [version]: released },
      versions: { [version]: { ...manifest, dist: { tarball: `${origin}/-/${name}.tgz`, integrity } } }
    })
  }
  return packed
})

/**
 * Packs every public package and serves them until the scope ends. Gives the address, the names, and what a program adds
 * itself to use all of them.
 */
export const serve = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const packages = path.join(import.meta.dirname, "../..")
  const to = yield* fileSystem.makeTempDirectoryScoped({ prefix: "mcp-packed-" })
  const folders = yield* Effect.filter(yield* fileSystem.readDirectory(packages), (name) =>
    fileSystem.readFileString(path.join(packages, name, "package.json")).pipe(
      Effect.flatMap((text) => decodeManifest(text)),
      Effect.match({ onFailure: () => false, onSuccess: (manifest) => manifest.private !== true })
    )
  )
  const packed = yield* Effect.forEach(folders, (name) => pack(path.join(packages, name), to), { concurrency: 2 })

  const server = yield* HttpServer.HttpServer
  const origin = HttpServer.formatAddress(server.address)
  yield* HttpServer.serveEffect(
    Effect.gen(function* () {
      const { url } = yield* HttpServerRequest.HttpServerRequest
      const asked = decodeURIComponent(url).slice(1)
      const found = packed.find(({ name }) => name === asked || `-/${name}.tgz` === asked)
      if (found === undefined) return HttpServerResponse.empty({ status: 404 })
      return asked === found.name
        ? HttpServerResponse.jsonUnsafe(found.packument(origin))
        : HttpServerResponse.uint8Array(found.tarball)
    })
  )
  return { origin, names: packed.map(({ name }) => name), additions: packed.flatMap((each) => each.additions) }
})
