/** Child process: the peer named by the first argument, on standard input and output. */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { serveStdio } from "@modelcontextprotocol/server/stdio"

// Timers of unfinished work would keep the process alive.
process.stdin.on("end", () => process.exit())

const [, , peer] = process.argv
switch (peer) {
  case "official": {
    const { makeMemory, makeOfficialPeer } = await import("./official.ts")
    const memory = makeMemory()
    serveStdio(() => makeOfficialPeer(memory))
    break
  }
  case "sdk": {
    const { makeSdkPeer } = await import("./sdk.ts")
    await makeSdkPeer().connect(new StdioServerTransport())
    break
  }
  case "effect":
  case "effect-legacy": {
    const { runStdio } = await import("./effect.ts")
    runStdio(peer === "effect" ? "every" : "legacy")
    break
  }
  default:
    throw new Error(`no such peer: ${peer}`)
}
