/** Child process: a release of the legacy SDK, named by the first argument, on standard input and output. */
import { type Release, releases, serveStdio } from "./sdkServer.ts"

const isRelease = (name: string | undefined): name is Release => name !== undefined && Object.hasOwn(releases, name)

const [, , release] = process.argv
if (!isRelease(release)) throw new Error(`no such release: ${release}`)
await serveStdio(release)
