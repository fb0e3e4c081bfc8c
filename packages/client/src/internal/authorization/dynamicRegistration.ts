/** Dynamic client registration (RFC 7591), deprecated in 2026-07-28 and still the most common way. */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { ClientIdNeeded, type Reason, RegistrationRefused } from "../../AuthorizationError.ts"
import type { AuthorizationServer } from "../../AuthorizationServer.ts"
import type { Client, Introduction, Registering } from "../../ClientRegistration.ts"
import * as Fields from "./fields.ts"
import * as Reach from "./reach.ts"

/** A program on a desk keeps no secrets, so it asks for none unless the server insists. */
const authMethod = ({ tokenEndpointAuthMethods: offered }: AuthorizationServer): string =>
  offered === undefined || offered.includes("none")
    ? "none"
    : (["client_secret_basic", "client_secret_post"].find((method) => offered.includes(method)) ?? "none")

const applicationType = (redirectUri: string): "native" | "web" => {
  const url = new URL(redirectUri)
  return url.protocol === "https:" && Reach.of(url) !== "loopback" ? "web" : "native"
}

/** Errors that another application type may cure (M-AUTH-18). */
const curable = new Set(["invalid_redirect_uri", "invalid_client_metadata"])

export const register = Effect.fnUntraced(function* (
  { authorizationServer, post, redirectUri, scope }: Registering,
  introduction: Introduction | false
): Effect.fn.Return<Client, Reason> {
  const { issuer, registrationEndpoint } = authorizationServer
  if (registrationEndpoint === undefined || introduction === false) return yield* new ClientIdNeeded({ issuer })
  const type = introduction.applicationType ?? applicationType(redirectUri)

  const ask = (applicationType: "native" | "web") => {
    const { clientName = "mcp-effect", clientUri, logoUri, softwareId, softwareVersion } = introduction
    return post(registrationEndpoint, {
      client_name: clientName,
      client_uri: clientUri,
      logo_uri: logoUri,
      software_id: softwareId,
      software_version: softwareVersion,
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: authMethod(authorizationServer),
      application_type: applicationType,
      scope
    })
  }
  const errorOf = (json: unknown) => (Fields.isDocument(json) ? Fields.text(json, "error") : undefined)

  const first = yield* ask(type)
  const retry = first.status === 400 && curable.has(errorOf(first.json) ?? "")
  const { json, status } = retry ? yield* ask(type === "native" ? "web" : "native") : first

  const clientId = Fields.isDocument(json) ? Fields.text(json, "client_id") : undefined
  if (!Fields.isDocument(json) || clientId === undefined || status >= 300) {
    const description = Fields.isDocument(json) ? Fields.text(json, "error_description") : undefined
    return yield* new RegistrationRefused({
      issuer,
      status,
      error: excerpt(errorOf(json) ?? "no client id in the answer"),
      ...(description === undefined ? {} : { description: excerpt(description) })
    })
  }
  const secret = Fields.text(json, "client_secret")
  const expires = Fields.count(json, "client_secret_expires_at")
  return {
    clientId,
    secret: secret === undefined ? undefined : Redacted.make(secret),
    authMethod: Fields.text(json, "token_endpoint_auth_method"),
    redirectUris: [redirectUri],
    secretExpiresAt: expires === undefined || expires === 0 ? undefined : expires * 1000
  }
})
