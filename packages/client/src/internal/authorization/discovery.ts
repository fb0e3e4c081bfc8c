/**
 * Finds out who issues tokens for a server: protected resource metadata, then authorization server metadata, then the
 * conventions of 2025-03-26 (sections 2 and 3 of the algorithm).
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  AddressRefused,
  EndpointFailed,
  IssuerMismatch,
  MetadataInvalid,
  MetadataMissing,
  type Reason,
  ResourceMismatch
} from "../../AuthorizationError.ts"
import { AuthorizationNotice, type Report } from "../../AuthorizationNotice.ts"
import type { AuthorizationServer } from "../../AuthorizationServer.ts"
import * as Fields from "./fields.ts"
import * as Http from "./http.ts"
import * as Resource from "./resource.ts"

/** Where tokens for a server come from. */
export interface Place {
  readonly authorizationServer: AuthorizationServer
  /** The value of the `resource` parameter: the metadata's own word, else the canonical URL. */
  readonly resource: string
  /** All that protected resource metadata lists. */
  readonly scopes: ReadonlyArray<string> | undefined
}

export interface Search {
  readonly http: Http.Http
  readonly server: URL
  /** From the challenge. */
  readonly hinted: string | undefined
  /** The issuer the user trusts, from the options. */
  readonly issuer: string | undefined
  /** Preferred among several: one we already have tokens of. */
  readonly known: string | undefined
  readonly report: Report
}

/** How many authorization servers of one list are tried. */
const maxServers = 5

/** Whether a status means "not here": ask the next place (A-2-3). */
const isAbsent = (status: number) =>
  (status >= 300 && status < 500 && status !== 408 && status !== 429) || status === 502

/** The first document among several places; nothing when none has one. */
const firstDocument = Effect.fnUntraced(function* (
  http: Http.Http,
  what: string,
  places: ReadonlyArray<string>
): Effect.fn.Return<{ readonly document: Fields.Document; readonly url: string } | undefined, Http.Failure> {
  for (const place of places) {
    const answer = yield* http.get(what, place)
    if (Http.isSuccess(answer) && Fields.isDocument(answer.json)) return { document: answer.json, url: answer.url }
    if (!Http.isSuccess(answer) && !isAbsent(answer.status)) {
      const because = "it has trouble"
      return yield* new EndpointFailed({ what, url: answer.url, status: answer.status, because })
    }
  }
  return undefined
})

interface ProtectedResource {
  readonly resource: string
  readonly servers: ReadonlyArray<string>
  readonly scopes: ReadonlyArray<string> | undefined
}

const resourceDocument = "protected resource metadata"

/** An address in a challenge is the server's word only: one that cannot be used is left out, not fatal. */
const hintedDocument = ({ hinted, http, report }: Search) =>
  hinted === undefined
    ? Effect.undefined
    : firstDocument(http, resourceDocument, [hinted]).pipe(
        Effect.catchTag("AddressRefused", ({ address, because }) =>
          Effect.as(report(AuthorizationNotice.MetadataAddressIgnored({ address, because })), undefined)
        )
      )

const protectedResource = Effect.fnUntraced(function* (
  search: Search
): Effect.fn.Return<ProtectedResource | undefined, Reason> {
  const { http, server } = search
  const found =
    (yield* hintedDocument(search)) ?? (yield* firstDocument(http, resourceDocument, Resource.wellKnown(server)))
  if (found === undefined) return undefined
  const { document, url } = found
  const resource = Fields.text(document, "resource")
  const invalid = (because: string) => new MetadataInvalid({ what: resourceDocument, url, because })
  if (resource === undefined) return yield* invalid("it has no `resource`")
  const parsed = Result.try(() => new URL(resource))
  if (Result.isFailure(parsed) || !Resource.covers(parsed.success, server)) {
    return yield* new ResourceMismatch({ expected: Resource.canonical(server), found: excerpt(resource), url })
  }
  const servers = Fields.texts(document, "authorization_servers") ?? []
  if (servers.length === 0) return yield* invalid("it names no `authorization_servers`")
  return { resource, servers, scopes: Fields.texts(document, "scopes_supported") }
})

/** Where the metadata of an issuer may be, in the order to ask (M-AUTH-10, M-AUTH-11). */
export const metadataPlaces = (issuer: string): ReadonlyArray<string> => {
  const url = new URL(issuer)
  const path = url.pathname.replace(/\/$/, "")
  const wellKnown = `${url.origin}/.well-known`
  return path === ""
    ? [`${wellKnown}/oauth-authorization-server`, `${wellKnown}/openid-configuration`]
    : [
        `${wellKnown}/oauth-authorization-server${path}`,
        `${wellKnown}/openid-configuration${path}`,
        `${url.origin}${path}/.well-known/openid-configuration`
      ]
}

const serverDocument = "authorization server metadata"

const serverOf = (
  document: Fields.Document,
  issuer: string,
  tokenEndpoint: string,
  found: AuthorizationServer["found"]
): AuthorizationServer => ({
  issuer,
  authorizationEndpoint: Fields.text(document, "authorization_endpoint"),
  tokenEndpoint,
  registrationEndpoint: Fields.text(document, "registration_endpoint"),
  revocationEndpoint: Fields.text(document, "revocation_endpoint"),
  scopes: Fields.texts(document, "scopes_supported"),
  grantTypes: Fields.texts(document, "grant_types_supported"),
  grantProfiles: Fields.texts(document, "authorization_grant_profiles_supported"),
  tokenEndpointAuthMethods: Fields.texts(document, "token_endpoint_auth_methods_supported"),
  tokenEndpointSigningAlgorithms: Fields.texts(document, "token_endpoint_auth_signing_alg_values_supported"),
  codeChallengeMethods: Fields.texts(document, "code_challenge_methods_supported"),
  dpopAlgorithms: Fields.texts(document, "dpop_signing_alg_values_supported"),
  clientIdMetadataDocument: Fields.flag(document, "client_id_metadata_document_supported"),
  issParameter: Fields.flag(document, "authorization_response_iss_parameter_supported"),
  found
})

const withoutSlash = (text: string) => text.replace(/\/$/, "")

/** The metadata of one issuer; nothing when it publishes none. */
export const authorizationServer = Effect.fnUntraced(function* (
  http: Http.Http,
  issuer: string,
  found: "metadata" | "origin",
  trusted: string | undefined
): Effect.fn.Return<AuthorizationServer | undefined, Reason> {
  const parsed = Result.try(() => new URL(issuer))
  if (Result.isFailure(parsed)) {
    return yield* new AddressRefused({ what: "issuer", address: excerpt(issuer), because: "it is no URL" })
  }
  const answer = yield* firstDocument(http, serverDocument, metadataPlaces(issuer))
  if (answer === undefined) return undefined
  const { document, url } = answer
  const theirs = Fields.text(document, "issuer")
  // Derived from the server's own URL, the base may differ by one slash.
  const matches = theirs === issuer || (found === "origin" && theirs !== undefined && withoutSlash(theirs) === issuer)
  if (theirs === undefined || !(matches || theirs === trusted)) {
    return yield* new IssuerMismatch({
      where: "metadata",
      expected: excerpt(issuer),
      ...(theirs === undefined ? {} : { found: excerpt(theirs) })
    })
  }
  const tokenEndpoint = Fields.text(document, "token_endpoint")
  if (tokenEndpoint === undefined) {
    return yield* new MetadataInvalid({ what: serverDocument, url, because: "it has no `token_endpoint`" })
  }
  return serverOf(document, theirs, tokenEndpoint, found)
})

/** The paths that 2025-03-26 lays down for a server without metadata. */
export const conventional = (origin: string): AuthorizationServer =>
  serverOf(
    {
      authorization_endpoint: `${origin}/authorize`,
      registration_endpoint: `${origin}/register`,
      code_challenge_methods_supported: ["S256"]
    },
    origin,
    `${origin}/token`,
    "convention"
  )

/** The listed servers, the most wanted first. */
const ordered = ({ issuer, known }: Search, listed: ReadonlyArray<string>) => {
  const first = [issuer, known].filter((wanted) => wanted !== undefined && listed.includes(wanted))
  return [...new Set([...first, ...listed])].filter((one) => one !== undefined).slice(0, maxServers)
}

/** Worth asking the next server of the list. */
const isOutOfReach = (reason: Reason) => reason._tag === "EndpointFailed" || reason._tag === "MetadataMissing"

const chooseServer = Effect.fnUntraced(function* (
  search: Search,
  listed: ReadonlyArray<string>
): Effect.fn.Return<AuthorizationServer, Reason> {
  let failure: Reason | undefined
  for (const issuer of ordered(search, listed)) {
    const tried = yield* Effect.result(authorizationServer(search.http, issuer, "metadata", search.issuer))
    if (Result.isSuccess(tried) && tried.success !== undefined) return tried.success
    const reason = Result.isFailure(tried)
      ? tried.failure
      : new MetadataMissing({ issuer: excerpt(issuer), tried: metadataPlaces(issuer).map((text) => excerpt(text)) })
    if (!isOutOfReach(reason)) return yield* reason
    failure ??= reason
  }
  return yield* failure ?? new MetadataMissing({ issuer: "", tried: [] })
})

/** Finds the place tokens come from; asks anew each time. */
export const find = Effect.fnUntraced(function* (search: Search): Effect.fn.Return<Place, Reason> {
  const { http, issuer, server } = search
  const named = yield* protectedResource(search)
  if (named === undefined) {
    const { origin } = server
    const own = yield* authorizationServer(http, origin, "origin", issuer)
    return {
      authorizationServer: own ?? conventional(origin),
      resource: Resource.canonical(server),
      scopes: undefined
    }
  }
  const chosen = yield* chooseServer(search, named.servers)
  if (issuer !== undefined && chosen.issuer !== issuer) {
    return yield* new IssuerMismatch({ where: "configuration", expected: issuer, found: excerpt(chosen.issuer) })
  }
  return { authorizationServer: chosen, resource: named.resource, scopes: named.scopes }
})
