/**
 * Chromium without a window, and somebody in front of it who signs in and consents, or declines.
 *
 * The browser is driven over the DevTools protocol. It resolves no name and so reaches nothing beyond the loopback; its
 * profile is a temporary folder. It ends with the scope.
 */
import * as Browser from "@mcp-effect/client/Browser"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const { BrowserError } = Browser

/** What is asked of the page, again and again: does the next thing a person would do, and names it. */
const step = (consents: boolean) => `(() => {
  const said = document.body?.innerText ?? ""
  if (said.includes("You can close this window")) return "returned"
  if (document.readyState === "loading" || document.documentElement.dataset.done) return "waited"
  const form = document.forms[0]
  if (!form) return said === "" ? "waited" : "lost: " + said.slice(0, 300)
  document.documentElement.dataset.done = "yes"
  if (!${consents}) {
    document.querySelector("a[href$='/abort']").click()
    return "declined"
  }
  const kind = form.elements.prompt.value
  if (kind === "login") {
    form.elements.login.value = "ada"
    form.elements.password.value = "any"
  }
  form.querySelector("button").click()
  return kind === "login" ? "signed in" : "consented"
})()`

const Reply = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.optionalKey(Schema.Number),
    result: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    error: Schema.optionalKey(Schema.Struct({ message: Schema.String }))
  })
)
const decodeReply = Schema.decodeUnknownResult(Reply)
const decodeValue = Schema.decodeUnknownResult(Schema.Struct({ value: Schema.String }))

type Fields = Readonly<Record<string, unknown>>

/** Sends commands over the DevTools socket. */
const devTools = Effect.fnUntraced(function* (address: string) {
  const socket = yield* Effect.acquireRelease(
    Effect.callback<WebSocket, Browser.BrowserError>((resume) => {
      const opening = new WebSocket(address)
      opening.addEventListener("open", () => resume(Effect.succeed(opening)))
      opening.addEventListener("error", () => resume(Effect.fail(new BrowserError({ because: "no DevTools" }))))
    }),
    (socket) => Effect.sync(() => socket.close())
  )
  const waiting = new Map<number, (reply: Effect.Effect<Fields, Browser.BrowserError>) => void>()
  socket.addEventListener("message", ({ data }) => {
    const reply = decodeReply(data)
    if (Result.isFailure(reply) || reply.success.id === undefined) return
    const { error, id, result = {} } = reply.success
    waiting.get(id)?.(
      error === undefined ? Effect.succeed(result) : Effect.fail(new BrowserError({ because: error.message }))
    )
    waiting.delete(id)
  })
  let id = 0
  return (method: string, params: Fields, sessionId?: unknown) =>
    Effect.callback<Fields, Browser.BrowserError>((resume) => {
      waiting.set(++id, resume)
      socket.send(JSON.stringify({ id, method, params, sessionId }))
    }).pipe(
      Effect.timeoutOrElse({
        duration: "10 seconds",
        orElse: () => Effect.fail(new BrowserError({ because: `no answer to ${method}` }))
      })
    )
})

/** Starts the browser at `program`. */
export const start = Effect.fnUntraced(function* (program: string) {
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner
  const profile = yield* fs.makeTempDirectoryScoped({ prefix: "mcp-browser-" })
  const child = yield* spawner.spawn(
    ChildProcess.make(
      program,
      [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--remote-debugging-port=0",
        `--user-data-dir=${profile}`,
        "about:blank"
      ],
      { stdin: "ignore", stdout: "ignore", forceKillAfter: "5 seconds" }
    )
  )
  const ready = yield* Deferred.make<string, Browser.BrowserError>()
  yield* child.stderr.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => {
      const address = /^DevTools listening on (ws:\S+)/.exec(line)?.[1]
      return address === undefined ? Effect.void : Deferred.succeed(ready, address)
    }),
    Effect.ignore,
    Effect.andThen(Deferred.fail(ready, new BrowserError({ because: `${program} ended` }))),
    Effect.forkScoped
  )
  const send = yield* Deferred.await(ready).pipe(Effect.timeout("30 seconds"), Effect.flatMap(devTools))

  let consents = true
  let did: Array<string> = []

  const look = (sessionId: unknown) =>
    send("Runtime.evaluate", { expression: step(consents), returnByValue: true }, sessionId).pipe(
      Effect.map(({ result }) => Result.getOrElse(decodeValue(result), () => ({ value: "waited" })).value),
      // Asked while one page gives way to the next.
      Effect.orElseSucceed(() => "waited")
    )

  const visit = Effect.fnUntraced(function* (address: URL) {
    const { targetId } = yield* send("Target.createTarget", { url: "about:blank" })
    const { sessionId } = yield* send("Target.attachToTarget", { targetId, flatten: true })
    yield* send("Page.navigate", { url: address.href }, sessionId)
    did.push("opened")
    while (true) {
      const deed = yield* look(sessionId)
      if (deed !== "waited") did.push(deed)
      if (deed === "returned") break
      if (deed.startsWith("lost")) return yield* new BrowserError({ because: deed })
      yield* Effect.sleep("50 millis")
    }
    yield* send("Target.closeTarget", { targetId })
  })

  return {
    browser: Browser.make((address) =>
      visit(address).pipe(
        Effect.timeoutOrElse({
          duration: "60 seconds",
          orElse: () => Effect.fail(new BrowserError({ because: `the pages led nowhere: ${did.join(", ")}` }))
        })
      )
    ),
    /** What the person does from now on when asked for consent. */
    willConsent: (value: boolean) => Effect.sync(() => void (consents = value)),
    /** What the person did since this was last asked. */
    did: Effect.sync(() => {
      const told = did.join(", ")
      did = []
      return told
    })
  }
})
