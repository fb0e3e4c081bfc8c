/**
 * Loaded before a foreign HTTP server (`node --import`): keeps it on loopback, tells which port it got, and ends it when
 * its parent is gone. Without it such a server listens on every interface, and a free port has to be guessed.
 */
import { Server } from "node:net"

// oxlint-disable-next-line typescript/unbound-method -- the proxy hands the server on
Server.prototype.listen = new Proxy(Server.prototype.listen, {
  apply: (listen, server: Server, [port, ...rest]: ReadonlyArray<unknown>) => {
    server.once("listening", () => {
      const address = server.address()
      process.stderr.write(`ready ${address !== null && typeof address === "object" ? address.port : 0}\n`)
    })
    return Reflect.apply(listen, server, [Number(port), "127.0.0.1", ...rest])
  }
})

process.stdin.on("end", () => process.exit()).resume()
