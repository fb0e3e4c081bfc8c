/** A `node:http` server on a free port of the loopback, whose handler is given once its address is known. */
import * as Effect from "effect/Effect"
import { createServer, type RequestListener } from "node:http"

export const listen = Effect.acquireRelease(
  Effect.callback<{
    readonly origin: string
    readonly serve: (listener: RequestListener) => void
    readonly close: Effect.Effect<void>
  }>((resume) => {
    const http = createServer()
    http.listen(0, "127.0.0.1", () => {
      const address = http.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(
        Effect.succeed({
          origin: `http://127.0.0.1:${port}`,
          serve: (listener) => void http.on("request", listener),
          close: Effect.callback((done) => {
            http.close(() => done(Effect.void))
            http.closeAllConnections()
          })
        })
      )
    })
  }),
  ({ close }) => close
)
