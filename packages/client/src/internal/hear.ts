/**
 * Turns what a wire did into what negotiation hears. The only place where a transport's failure becomes a `Signal`;
 * nothing a wire can do is an error here.
 */
import { Signal } from "@mcp-effect/negotiation/Signal"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import * as Duration from "effect/Duration"

export const answer = (response: JsonRpc.Response): Signal =>
  "result" in response ? Signal.Answered({ result: response.result }) : Signal.Failed({ error: response.error })

export const failure = ({ reason }: TransportError): Signal => {
  switch (reason._tag) {
    case "SpawnFailed":
      return Signal.SpawnFailed({ command: reason.command, because: reason.because })
    case "Exited":
      // What a shell answers for a command it cannot run (P18); one that says more than the code has more to tell.
      return (reason.code === 126 || reason.code === 127) && reason.stderr === ""
        ? Signal.SpawnFailed({ command: reason.command, because: `exit code ${reason.code}` })
        : Signal.Exited({ code: reason.code, signal: reason.signal, stderr: reason.stderr })
    case "Closed":
      return Signal.Closed()
    case "Unreachable":
      return Signal.Unreachable({ because: reason.because, cause: reason.cause })
    case "HttpRejected":
      return Signal.HttpStatus({
        status: reason.status,
        error: reason.error,
        body: reason.body,
        mediaType: reason.mediaType,
        challenge: reason.challenge,
        retryAfter: reason.retryAfter === undefined ? undefined : Duration.millis(reason.retryAfter),
        location: reason.location,
        cause: reason.cause
      })
    case "MalformedReply":
      return Signal.Malformed({
        status: reason.status,
        mediaType: reason.mediaType,
        excerpt: reason.excerpt,
        because: reason.because
      })
    case "ResponseLost":
      return Signal.Malformed({ status: undefined, mediaType: undefined, excerpt: "", because: reason.because })
    case "NotJson":
    case "ResponseTaken":
    case "TooLarge":
      return Signal.Malformed({ status: undefined, mediaType: undefined, excerpt: "", because: reason.message })
  }
}
