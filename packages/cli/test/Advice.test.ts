import {
  Disconnected,
  McpClientError,
  OutcomeUnknown,
  Reason as ClientReason,
  ServerError,
  WireFailed
} from "@mcp-effect/client/McpClientError"
import { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import { AuthorizationRequired, ProbeHttpStatus, ProbeTimeout } from "@mcp-effect/negotiation/ProbeReason"
import { ModernUnavailable, Reason } from "@mcp-effect/negotiation/Reason"
import { HttpRejected, TransportError } from "@mcp-effect/transport/TransportError"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Advice from "../src/Advice.ts"

const refusal = (status: number, body = "") =>
  new TransportError({
    endpoint: "https://example.com/mcp",
    reason: new HttpRejected({ status, body, sessionLost: false })
  })

const negotiated = (reason: Reason, status?: number) =>
  new NegotiationError({
    endpoint: "https://example.com/mcp",
    transport: "http",
    elapsed: 1,
    remembered: false,
    attempts:
      status === undefined
        ? []
        : [
            {
              asked: "discover",
              heard: { signal: "HttpStatus", status },
              millis: 1,
              rule: "P23",
              decided: "FAIL(AuthorizationRequired)",
              because: "its status"
            }
          ],
    reason
  })

const called = (reason: ClientReason) => new McpClientError({ server: "https://example.com/mcp", reason })

/** What only a program can set. */
const program =
  /mode '|`(offer|timeout|prior|fallback|legacyStatuses)\b|\b(Defaults|OutputSchema|Tasks)\.|the (time|handshake) limit/

describe("advice of the command line", () => {
  it.prop(
    "U-05, U-61: names flags where the libraries name options, for every way not to connect",
    [Arbitrary.schema(Reason)],
    ([reason]) => {
      const text = Advice.because(negotiated(reason))
      assert.notMatch(text, program)
      if (text.includes("--era") || text.includes("--timeout")) assert.notInclude(text, reason.hint)
    },
    { arbitrary: { runs: 2_000 } }
  )

  it.prop(
    "U-61: names flags where the libraries name options, for every way a request fails",
    [Arbitrary.schema(ClientReason)],
    ([reason]) => {
      if (reason._tag === "InvalidOption") return
      assert.notMatch(Advice.because(called(reason)).replace(/Raise Defaults\.MaxMessageBytes/, ""), program)
    },
    { arbitrary: { runs: 2_000 } }
  )

  it("U-61: better advice stands in place of the hint, once", () => {
    const error = negotiated(new ProbeTimeout({ asked: "discover" }))
    assert.strictEqual(
      Advice.because(error, "Did you mean http://localhost:1?"),
      "asked server/discover, heard nothing in time. Did you mean http://localhost:1?"
    )
  })

  it("U-05: a line of HTTP stays as it is, and the hint has a line of its own", () => {
    const reason = new ProbeHttpStatus({ asked: "discover", status: 415, body: "no" })
    assert.strictEqual(
      Advice.because(negotiated(reason)),
      "MCP: HTTP 415 no\nserver/discover was answered with HTTP 415. " +
        "Looks like an old server: use `--era legacy` if it is known to be old"
    )
  })

  it("U-61: what a lost connection says of the next one is in the same words", () => {
    const cause = negotiated(new ModernUnavailable({ heard: { signal: "Silent" }, rule: "P16" }))
    const text = Advice.because(called(new Disconnected({ method: "tools/call", cause })))
    assert.match(text, /^tools\/call got no answer, since the connection is lost: .*use `--era auto`/)
  })
})

it("U-61: an error that wants a handler of a program says how somebody is asked here", () => {
  for (const code of [-32021, -32042]) {
    const text = Advice.because(called(new ServerError({ method: "tools/call", code, text: "no" })))
    assert.strictEqual(
      text,
      `the server answered tools/call with error ${code}: no; ` +
        "Run it at a terminal, without `--json`, so that somebody can be asked"
    )
  }
})

describe("U-07: a sign-in is wanted", () => {
  const required = new AuthorizationRequired({ asked: "discover", status: 401, body: "" })
  it.each<readonly [circumstance: string, wanted: boolean, error: Parameters<typeof Advice.wantsSignIn>[0]]>([
    ["the probe was answered with 401", true, negotiated(required, 401)],
    ["a request was answered with 401", true, called(new WireFailed({ method: "x", cause: refusal(401) }))],
    ["a call was answered with 401", true, called(new OutcomeUnknown({ method: "x", cause: refusal(401) }))],
    [
      "the next connection was answered with 401",
      true,
      called(new Disconnected({ method: "x", cause: negotiated(required, 401) }))
    ],
    ["the answer was another status", false, negotiated(required, 403)],
    [
      "only the text of a server says so",
      false,
      called(new WireFailed({ method: "x", cause: refusal(500, "HTTP 401") }))
    ],
    ["the server's error says so", false, called(new ServerError({ method: "x", code: 1, text: "HTTP 401" }))]
  ])("where %s: %s", (_, wanted, error) => {
    assert.strictEqual(Advice.wantsSignIn(error), wanted)
  })
})
