/**
 * The server of an HTTP transport: its address, the headers of every request, and the client that sends them.
 */
import * as Header from "@mcp-effect/protocol/Header"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { RequestInit } from "effect/http/FetchHttpClient"
import * as Headers from "effect/http/Headers"
import { HttpClient, TracerDisabledWhen } from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Tracer from "effect/Tracer"
import { TransportError, Unreachable } from "../TransportError.ts"
import * as Address from "./address.ts"
import { isDirect } from "./direct.ts"

export interface Options {
  readonly url: string | URL
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>>
}

/** A server that requests can be sent to. */
export interface Target {
  readonly client: HttpClient
  /** The URL for people. */
  readonly endpoint: string
  /** The URL for requests. */
  readonly url: string
  /** Headers of every request, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** A caller's context, with what a request to this server needs on top. */
  readonly equip: (context: Context.Context<never>) => Context.Context<never>
}

const always = () => true

const headersOf = (options: Options): Result.Result<Readonly<Record<string, string>>, string> => {
  const headers = new Map<string, string>()
  for (const [name, given] of Object.entries(options.headers ?? {})) {
    const value = Redacted.isRedacted(given) ? Redacted.value(given) : given
    if (!Header.isName(name)) return Result.fail(`${JSON.stringify(name)} is no name of a header`)
    // A platform's own complaint would quote the value.
    if (!Header.isValue(value)) return Result.fail(`the header ${name} has characters that HTTP does not allow`)
    headers.set(name.toLowerCase(), value)
  }
  return Result.succeed(Object.fromEntries(headers))
}

const urlOf = (options: Options): Result.Result<URL, string> =>
  Result.filterOrFail(
    Result.try({ try: () => new URL(options.url), catch: () => "the address is no URL" }),
    ({ protocol }) => protocol === "https:" || protocol === "http:",
    () => "the address is no http or https URL"
  )

/** Reads the options; `target` fails when they cannot be sent. */
export const make = Effect.fnUntraced(function* (
  options: Options,
  hiddenHeaders: ReadonlyArray<string>
): Effect.fn.Return<
  {
    /** What the transport says of its server, for people and for keys. */
    readonly place: { readonly endpoint: string; readonly setting?: string }
    readonly target: Effect.Effect<Target, TransportError>
  },
  never,
  HttpClient
> {
  const client = yield* HttpClient
  const given = Option.getOrElse(Context.getOption(yield* Effect.context(), RequestInit), () => ({}))
  const init = { ...given, redirect: "manual" as const }
  const url = urlOf(options)
  const headers = headersOf(options)
  const address = Result.isSuccess(url) ? url.success.href : String(options.url)
  const endpoint = Address.shown(address)
  const setting = yield* Address.setting(address)
  const place = { endpoint, ...(setting === undefined ? {} : { setting }) }
  const refuse = (because: string) =>
    Effect.fail(new TransportError({ endpoint, reason: new Unreachable({ because }) }))
  if (Result.isFailure(url)) return { place, target: refuse(url.failure) }
  if (Result.isFailure(headers)) return { place, target: refuse(headers.failure) }

  const { authorization, url: bare } = Address.withoutCredentials(url.success)
  const all = authorization === undefined ? headers.success : { authorization, ...headers.success }
  const hidden = [...hiddenHeaders, ...Object.keys(all)]
  // Without a tracing backend nobody sees the span of a request; where tracing is off, its ids would be none.
  const isUntraced = (context: Context.Context<never>) =>
    Context.get(context, Tracer.Tracer) === Tracer.nativeTracer || !Context.get(context, References.TracerEnabled)
  const fit = (context: Context.Context<never>) => {
    const theirs = Context.getOrUndefined(context, RequestInit)
    const equipped = Context.add(
      Context.add(context, RequestInit, theirs === undefined ? init : { ...theirs, ...init }),
      Headers.CurrentRedactedNames,
      [...Context.get(context, Headers.CurrentRedactedNames), ...hidden]
    )
    return isUntraced(context) ? Context.add(equipped, TracerDisabledWhen, always) : equipped
  }
  // One caller makes many requests in one context.
  let fitted: WeakMap<Context.Context<never>, Context.Context<never>> | undefined
  const equip: Target["equip"] = (context) => {
    // Names of headers matter to spans, the rest to other clients.
    if (isDirect(client) && isUntraced(context)) return context
    fitted ??= new WeakMap()
    const known = fitted.get(context)
    if (known !== undefined) return known
    const made = fit(context)
    fitted.set(context, made)
    return made
  }
  return { place, target: Effect.succeed({ client, endpoint, url: bare, headers: all, equip }) }
})
