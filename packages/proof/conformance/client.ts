/**
 * The program the official conformance suite drives: `node client.ts <server url>`.
 *
 * It connects with default negotiation and with authorization under the wire, does what the scenario in
 * `MCP_CONFORMANCE_SCENARIO` wants, and closes. It plays the user's browser itself: it asks for the page of the sign-in
 * and reads the answer from the redirect.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Authorization from "@mcp-effect/client/Authorization"
import { SignInUnavailable } from "@mcp-effect/client/AuthorizationError"
import { AuthorizationFlow } from "@mcp-effect/client/AuthorizationFlow"
import * as ClientAssertion from "@mcp-effect/client/ClientAssertion"
import * as ClientCredentials from "@mcp-effect/client/ClientCredentials"
import * as ClientRegistration from "@mcp-effect/client/ClientRegistration"
import * as Dpop from "@mcp-effect/client/Dpop"
import * as EnterpriseAuthorization from "@mcp-effect/client/EnterpriseAuthorization"
import * as FormAnswer from "@mcp-effect/client/FormAnswer"
import * as McpClient from "@mcp-effect/client/McpClient"
import type { TokenSource } from "@mcp-effect/client/TokenSource"
import * as TokenStore from "@mcp-effect/client/TokenStore"
import * as WorkloadIdentity from "@mcp-effect/client/WorkloadIdentity"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Scenarios from "./scenarios.ts"

const document = "https://conformance-test.local/client-metadata.json"

/** A browser whose user agrees to everything at once. */
const AgreeingUser = Layer.effect(
  AuthorizationFlow,
  Effect.map(HttpClient.HttpClient, (http) =>
    AuthorizationFlow.of({
      begin: () =>
        Effect.succeed({
          redirectUri: "http://localhost:8931/callback",
          visit: ({ address }) =>
            http.get(address).pipe(
              Effect.mapError(({ message }) => new SignInUnavailable({ because: message })),
              Effect.flatMap(({ headers: { location } }) =>
                location === undefined
                  ? Effect.fail(new SignInUnavailable({ because: "the page did not redirect" }))
                  : Effect.succeed(new URL(location, address).searchParams)
              )
            )
        })
    })
  )
)

const secret = (text: string | undefined) => Redacted.make(text ?? "")

/** Scenarios in which no user signs in. */
const sourceOf = (scenario: string, context: Scenarios.Context): TokenSource | undefined => {
  const clientId = context.client_id ?? ""
  switch (scenario) {
    case "auth/client-credentials-basic":
      return ClientCredentials.make({ clientId, secret: secret(context.client_secret) })
    case "auth/client-credentials-jwt":
      return ClientCredentials.make({
        clientId,
        assertion: ClientAssertion.make({
          key: secret(context.private_key_pem),
          algorithm: context.signing_algorithm ?? "ES256"
        })
      })
    case "auth/enterprise-managed-authorization":
      return EnterpriseAuthorization.make({
        client: { clientId, secret: secret(context.client_secret) },
        identityProvider: {
          tokenEndpoint: context.idp_token_endpoint ?? "",
          client: { clientId: context.idp_client_id ?? "" },
          identityToken: Effect.succeed(secret(context.idp_id_token))
        }
      })
    case "auth/wif-jwt-bearer":
      return WorkloadIdentity.make(() => Effect.succeed(secret(context.valid_jwt)))
  }
}

const clients = ({ client_id: clientId, client_secret }: Scenarios.Context) =>
  ClientRegistration.layer({
    document,
    dynamic: { clientName: "mcp-effect conformance" },
    preRegistered: clientId === undefined ? [] : [{ clientId, secret: secret(client_secret) }]
  })

const authorization = (server: string, scenario: string, context: Scenarios.Context) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const source = sourceOf(scenario, context)
      if (source !== undefined) return Authorization.layerFrom({ server, source })
      const options = scenario.startsWith("auth/dpop") ? { server, dpop: yield* Dpop.make() } : { server }
      return Authorization.layer(options).pipe(Layer.provide([AgreeingUser, clients(context)]))
    })
  ).pipe(Layer.provide(TokenStore.layerMemory))

const program = Effect.gen(function* () {
  const server = process.argv.at(-1) ?? ""
  const scenario = yield* Config.String("MCP_CONFORMANCE_SCENARIO")
  const text = yield* Config.String("MCP_CONFORMANCE_CONTEXT").pipe(Config.withDefault("{}"))
  const context = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Scenarios.Context))(text)
  const confirmed = scenario === "sep-2322-client-request-state" ? { confirmed: true } : {}
  yield* Effect.gen(function* () {
    const client = yield* McpClient.connect(server, {
      handlers: {
        elicitation: {
          form: (question) =>
            Effect.succeed({ action: "accept", content: { ...FormAnswer.defaults(question), ...confirmed } })
        },
        sampling: () => Effect.succeed({ role: "assistant", model: "none", content: { type: "text", text: "" } }),
        roots: Effect.succeed([])
      }
    })
    yield* Scenarios.steps(scenario, client, context)
  }).pipe(Effect.scoped, Effect.provide(authorization(server, scenario, context)))
})

program.pipe(Effect.provide(NodeHttp.layer), NodeRuntime.runMain)
