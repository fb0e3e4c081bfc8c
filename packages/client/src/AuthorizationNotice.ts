/**
 * What authorization noticed and did not fail over: a token that could not be stored, a renewal put off, an address in
 * a challenge that was left out.
 *
 * Each becomes a `Diagnostic` unless a program provides its own reference. No secret is in any of them.
 *
 * @since 0.1.0
 */
import { Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/**
 * One thing noticed.
 *
 * @category models
 * @since 0.1.0
 */
export type AuthorizationNotice = Data.TaggedEnum<{
  /** A new token is in use and could not be stored: it will be gone after a restart (T-OAUTH-10). */
  TokenNotStored: { readonly because: string }
  /** What is stored could not be read; it counts as absent. */
  StoreUnreadable: { readonly because: string }
  /** The store could not be locked; the token was renewed without its lock. */
  StoreNotLocked: { readonly because: string }
  /** A token could not be renewed ahead of its end; it stays in use. */
  RenewalPutOff: { readonly because: string }
  /** The address of metadata in a challenge was refused and the well-known places were asked instead. */
  MetadataAddressIgnored: { readonly address: string; readonly because: string }
  /** The server now names another authorization server; tokens of the old one were dropped (A-9-5). */
  IssuerChanged: { readonly from: string; readonly to: string }
  /** The page for signing in could not be opened by itself. */
  BrowserNotOpened: { readonly because: string }
}>

/**
 * Constructors and matchers.
 *
 * @category constructors
 * @since 0.1.0
 */
export const AuthorizationNotice = Data.taggedEnum<AuthorizationNotice>()

/**
 * One line for a person.
 *
 * @category formatting
 * @since 0.1.0
 */
export const describe: (notice: AuthorizationNotice) => string = AuthorizationNotice.$match({
  TokenNotStored: ({ because }) => `a new token is in use but could not be stored: ${because}`,
  StoreUnreadable: ({ because }) => `stored credentials cannot be read and count as absent: ${because}`,
  StoreNotLocked: ({ because }) => `the token store could not be locked, renewing without its lock: ${because}`,
  RenewalPutOff: ({ because }) => `a token could not be renewed ahead of time and stays in use: ${because}`,
  MetadataAddressIgnored: ({ address, because }) => `left out the metadata address ${address}: ${because}`,
  IssuerChanged: ({ from, to }) =>
    `the server's authorization server changed from ${from} to ${to}; old tokens dropped`,
  BrowserNotOpened: ({ because }) => `the page for signing in could not be opened: ${because}`
})

/**
 * Takes notices.
 *
 * @category models
 * @since 0.1.0
 */
export type Report = (notice: AuthorizationNotice) => Effect.Effect<void>

/**
 * Where notices go. By default each is a `Diagnostic` (`AuthorizationNoticed`), beside everything else that is reported.
 * Provide your own to tell the kinds apart.
 *
 * @category services
 * @since 0.1.0
 */
export const AuthorizationNotices = Context.Reference<Report>("@mcp-effect/client/AuthorizationNotices", {
  defaultValue: () => (notice) =>
    Effect.flatMap(Diagnostics, (report) =>
      report(
        Diagnostic.AuthorizationNoticed({ server: "authorization", notice: notice._tag, because: describe(notice) })
      )
    )
})
