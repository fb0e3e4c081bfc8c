/**
 * The official server of the modern line behind a check of tokens: a request without a good token gets 401 and is told
 * where the metadata is; the tool `add` wants one scope more than the others.
 *
 * Every token is asked about at the authorization server (RFC 7662), so one that was taken back is refused at once.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { IncomingMessage } from "node:http"
import { makeOfficialListener } from "../servers/officialServer.ts"
import { listen } from "./listening.ts"
import { resourceServer, scopes } from "./provider.ts"

const Introspection = Schema.Struct({
  active: Schema.Boolean,
  aud: Schema.optionalKey(Schema.String),
  scope: Schema.optionalKey(Schema.String)
})
const decode = Schema.decodeUnknownPromise(Introspection)

const metadataPath = "/.well-known/oauth-protected-resource/mcp"

/** Starts it; it ends with the scope. */
export const start = Effect.fnUntraced(function* (issuer: string) {
  const { origin, serve } = yield* listen
  const official = makeOfficialListener("stateless")
  yield* Effect.addFinalizer(() => Effect.promise(official.close))
  const resource = `${origin}/mcp`
  const basic = Buffer.from(
    `${encodeURIComponent(resourceServer.client_id)}:${encodeURIComponent(resourceServer.client_secret)}`
  ).toString("base64")
  const seen = new Set<string>()

  const introspect = async (token: string) => {
    const response = await fetch(`${issuer}/token/introspection`, {
      method: "POST",
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ token })
    })
    return decode(await response.json())
  }

  /** Why a request may not pass, as the `WWW-Authenticate` header says it. */
  const objection = async ({ headers }: IncomingMessage) => {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1]
    const metadata = `resource_metadata="${origin}${metadataPath}"`
    if (token === undefined) return { status: 401, challenge: `Bearer scope="${scopes[0]}", ${metadata}` }
    seen.add(token)
    const { active, aud, scope = "" } = await introspect(token)
    if (!active || aud !== resource) {
      return { status: 401, challenge: `Bearer error="invalid_token", scope="${scopes[0]}", ${metadata}` }
    }
    const wanted = headers["mcp-name"] === "add" ? "mcp:write" : "mcp:tools"
    return scope.split(" ").includes(wanted)
      ? undefined
      : { status: 403, challenge: `Bearer error="insufficient_scope", scope="${wanted}", ${metadata}` }
  }

  serve((request, response) => {
    if (request.url === metadataPath) {
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ resource, authorization_servers: [issuer], scopes_supported: scopes }))
    } else if (request.url === "/mcp") {
      void objection(request).then((found) => {
        if (found === undefined) return official.listener(request, response)
        response.writeHead(found.status, { "www-authenticate": found.challenge }).end()
      })
    } else {
      response.writeHead(404).end()
    }
  })

  return {
    url: resource,
    /** Every token that was ever shown here. */
    tokens: (): ReadonlyArray<string> => Array.from(seen),
    /** Whether a token is good now. */
    isActive: (token: string) =>
      Effect.map(
        Effect.promise(() => introspect(token)),
        ({ active }) => active
      )
  }
})
