/**
 * The token in use for one server, and how it comes and goes: obtained, renewed, replaced, widened.
 *
 * One piece of work at a time. Whoever needs the same work waits for it and shares its outcome; work belongs to the
 * authorizer's scope, so a caller that stops waiting ends nothing (T-OAUTH-4, A-0-6).
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import {
  EndpointFailed,
  InsufficientScope,
  MetadataMissing,
  type Reason,
  SignInUnavailable
} from "../../AuthorizationError.ts"
import { AuthorizationNotice, type Report } from "../../AuthorizationNotice.ts"
import type { AuthorizationServer } from "../../AuthorizationServer.ts"
import type { Dpop } from "../../Dpop.ts"
import type { Asked, Issued, TokenSource } from "../../TokenSource.ts"
import * as Discovery from "./discovery.ts"
import * as Http from "./http.ts"
import { RenewBefore } from "./limits.ts"
import * as Reach from "./reach.ts"
import * as Scopes from "./scopes.ts"
import * as TokenEndpoint from "./tokenEndpoint.ts"
import type { Grant, Vault } from "./vault.ts"

/** How a token came to be the one in use. */
export type Step =
  | { readonly _tag: "Renewed" }
  | { readonly _tag: "Adopted" }
  | { readonly _tag: "Obtained"; readonly scopes: string }
  /** Work for another purpose was under way; look again. */
  | { readonly _tag: "Waited" }

/** What a challenge says that matters here. */
export interface Wanted {
  readonly metadata: string | undefined
  readonly scopes: Scopes.Scopes
  /** As the server said it. */
  readonly scope: string | undefined
}

export interface Settings {
  readonly server: URL
  readonly source: TokenSource
  readonly issuer: string | undefined
  readonly scopes: Scopes.Scopes
  readonly dpop: Dpop | undefined
  readonly http: Http.Http
  readonly vault: Vault
  readonly report: Report
}

/** After a renewal ahead of time failed, how long until the next one is tried. */
const pause = Duration.seconds(30)

/** Worth keeping everything as it is and trying again later (A-9-4). */
const isPassing = (reason: Reason) => reason._tag === "EndpointFailed"

const differ = (a: Grant, b: Grant) => Redacted.value(a.accessToken) !== Redacted.value(b.accessToken)

export const make = Effect.fnUntraced(function* (settings: Settings): Effect.fn.Return<Grants, never, Scope.Scope> {
  const { dpop, http, issuer, report, server, source, vault } = settings
  const renewBefore = Duration.toMillis(yield* RenewBefore)

  /** Whether requests can carry it: the key it is bound to must be ours. */
  const isUsable = (grant: Grant) =>
    grant.tokenType === "Bearer" || (dpop !== undefined && grant.thumbprint === dpop.thumbprint)

  const stored = yield* vault.grant
  let current = stored !== undefined && isUsable(stored) ? stored : undefined
  let version = 0
  /** Whether the store holds what is in use; when it does not, what it holds is older. */
  let isStored = true
  let place: Discovery.Place | undefined
  let quietUntil = 0
  const hopeless = new Set<string>()

  const use = (grant: Grant | undefined) => {
    current = grant
    version++
  }

  const asked = (
    { authorizationServer, resource }: Pick<Discovery.Place, "authorizationServer" | "resource">,
    scopes: Scopes.Scopes,
    challenged: Scopes.Scopes
  ): Asked => ({
    authorizationServer,
    resource,
    scopes,
    challenged,
    token: (request) => TokenEndpoint.ask({ http, server: authorizationServer, dpop }, request),
    check: (what, address) => Reach.check(http.policy, what, address),
    revoke: (client, token) => TokenEndpoint.revoke(http, authorizationServer, client, token),
    post: Effect.fnUntraced(function* (address, json) {
      const what = "registration endpoint"
      const answer = yield* http.post(what, address, { json })
      const { status, url } = answer
      if (!Http.isPassing(status)) return answer
      return yield* new EndpointFailed({ what, url, status, because: "it has trouble" })
    })
  })

  const keep = Effect.fnUntraced(function* (
    issued: Issued,
    from: Pick<Grant, "issuer" | "resource" | "requested"> &
      Partial<Pick<Grant, "clientId" | "refreshToken" | "granted">>
  ) {
    const now = yield* Clock.currentTimeMillis
    const life = issued.expiresIn === undefined ? undefined : issued.expiresIn * 1000
    const grant: Grant = {
      issuer: from.issuer,
      resource: from.resource,
      clientId: issued.clientId ?? from.clientId,
      accessToken: issued.accessToken,
      tokenType: issued.tokenType,
      refreshToken: issued.refreshToken ?? from.refreshToken,
      expiresAt: life === undefined ? undefined : now + life,
      renewAt: life === undefined ? undefined : now + life - Math.min(renewBefore, life / 2),
      granted: issued.scope ?? from.granted,
      requested: from.requested,
      thumbprint: issued.tokenType === "DPoP" ? dpop?.thumbprint : undefined
    }
    use(grant)
    isStored = yield* vault.setGrant(grant)
  })

  const drop = Effect.suspend(() => {
    use(undefined)
    return vault.removeGrant
  })

  const obtain = Effect.fnUntraced(function* (
    where: Discovery.Place,
    scopes: Scopes.Scopes,
    challenged: Scopes.Scopes
  ): Effect.fn.Return<Step, Reason> {
    const issued = yield* source.obtain(asked(where, scopes, challenged))
    const { authorizationServer, resource } = where
    yield* Effect.uninterruptible(
      keep(issued, { issuer: authorizationServer.issuer, resource, requested: Scopes.format(scopes) })
    )
    return { _tag: "Obtained", scopes: Scopes.keyOf(scopes) }
  })

  /** What another process has put into the store since, if it can be used. */
  const newer = (than: Grant | undefined) =>
    Effect.gen(function* () {
      const found = isStored ? yield* vault.grant : undefined
      if (found === undefined || !isUsable(found)) return undefined
      const now = yield* Clock.currentTimeMillis
      const ended = found.expiresAt !== undefined && found.expiresAt <= now
      return ended || (than !== undefined && !differ(found, than)) ? undefined : found
    })

  const canRenew = ({ refreshToken }: Grant) =>
    (refreshToken !== undefined && source.refresh !== undefined) || !source.interactive

  /** Uses the refresh token once, whoever shares the store; a rotated one is stored before anything else happens. */
  const renew = (grant: Grant, authorizationServer: AuthorizationServer): Effect.Effect<Step, Reason> =>
    vault.exclusively(
      Effect.uninterruptible(
        Effect.gen(function* (): Effect.fn.Return<Step, Reason> {
          const found = yield* newer(grant)
          if (found !== undefined && found.issuer === grant.issuer) {
            use(found)
            return { _tag: "Adopted" }
          }
          const ask = asked({ authorizationServer, resource: grant.resource }, Scopes.parse(grant.requested), [])
          const { clientId, refreshToken } = grant
          const issued =
            refreshToken !== undefined && source.refresh !== undefined
              ? yield* source.refresh(ask, { refreshToken, clientId })
              : yield* source.obtain(ask)
          yield* keep(issued, grant)
          return { _tag: "Renewed" }
        })
      )
    )

  /** The server a grant came from, known or asked for again by its issuer. */
  const serverOf = Effect.fnUntraced(function* (grant: Grant): Effect.fn.Return<AuthorizationServer, Reason> {
    if (place?.authorizationServer.issuer === grant.issuer) return place.authorizationServer
    const own = grant.issuer.replace(/\/$/, "") === server.origin
    const found = own
      ? ((yield* Discovery.authorizationServer(http, server.origin, "origin", issuer)) ??
        Discovery.conventional(server.origin))
      : yield* Discovery.authorizationServer(http, grant.issuer, "metadata", issuer)
    return (
      found ?? (yield* new MetadataMissing({ issuer: grant.issuer, tried: Discovery.metadataPlaces(grant.issuer) }))
    )
  })

  /** Renews ahead of time. Never asks anybody, never fails: the worst is a 401 later. */
  const renewAhead = (grant: Grant): Effect.Effect<Step> =>
    serverOf(grant).pipe(
      Effect.mapError((reason) => ({ reason, mayPass: true })),
      Effect.flatMap((authorizationServer) =>
        Effect.mapError(renew(grant, authorizationServer), (reason) => ({ reason, mayPass: isPassing(reason) }))
      ),
      Effect.catch(
        Effect.fnUntraced(function* ({ mayPass, reason }): Effect.fn.Return<Step> {
          if (mayPass) {
            quietUntil = (yield* Clock.currentTimeMillis) + Duration.toMillis(pause)
            yield* report(AuthorizationNotice.RenewalPutOff({ because: reason.message }))
          } else yield* drop
          return { _tag: "Waited" }
        })
      )
    )

  const find = Effect.fnUntraced(function* ({ metadata }: Wanted) {
    place = yield* Discovery.find({ http, server, hinted: metadata, issuer, known: current?.issuer, report })
    return place
  })

  /** What the challenge names, else all that the metadata lists, else what is configured (M-AUTH-30). */
  const select = (wanted: Wanted, { scopes }: Discovery.Place): Scopes.Scopes =>
    wanted.scopes.length > 0 ? wanted.scopes : Scopes.union(scopes ?? settings.scopes)

  const requireAsking = (mayAsk: boolean) =>
    source.interactive && !mayAsk
      ? Effect.fail(new SignInUnavailable({ because: "this request asks nobody" }))
      : Effect.void

  /** A token in place of one that was refused, or of none. */
  const replace = Effect.fnUntraced(function* (
    wanted: Wanted,
    how: { readonly mayAsk: boolean; readonly mayRenew: boolean }
  ): Effect.fn.Return<Step, Reason> {
    const found = yield* newer(current)
    if (found !== undefined) {
      use(found)
      return { _tag: "Adopted" }
    }
    const where = yield* find(wanted)
    const { authorizationServer } = where
    if (current !== undefined && current.issuer !== authorizationServer.issuer) {
      yield* report(AuthorizationNotice.IssuerChanged({ from: current.issuer, to: authorizationServer.issuer }))
      yield* drop
    }
    const before = current
    if (before?.refreshToken !== undefined && how.mayRenew && canRenew(before)) {
      const renewed = yield* Effect.result(renew(before, authorizationServer))
      if (Result.isSuccess(renewed)) return renewed.success
      if (isPassing(renewed.failure)) return yield* renewed.failure
      yield* drop
    }
    yield* requireAsking(how.mayAsk)
    return yield* obtain(where, Scopes.union(Scopes.parse(before?.requested), select(wanted, where)), wanted.scopes)
  })

  /** A token with more scopes. Renewing cannot widen, so this always goes to the source (A-10-3). */
  const widen = Effect.fnUntraced(function* (
    wanted: Wanted,
    how: { readonly mayAsk: boolean; readonly tried: ReadonlySet<string> }
  ): Effect.fn.Return<Step, Reason> {
    const where = place ?? (yield* find(wanted))
    const had = Scopes.union(Scopes.parse(current?.requested), Scopes.parse(current?.granted))
    const scopes = Scopes.union(had, select(wanted, where))
    const key = Scopes.keyOf(scopes)
    if (how.tried.has(key) || hopeless.has(key)) {
      hopeless.add(key)
      const { scope } = wanted
      return yield* new InsufficientScope({ requested: scopes, ...(scope === undefined ? {} : { wanted: scope }) })
    }
    yield* requireAsking(how.mayAsk)
    return yield* obtain(where, scopes, wanted.scopes)
  })

  interface Work {
    readonly purpose: string
    readonly fiber: Fiber.Fiber<Step, Reason>
  }
  let work: Work | undefined

  const share = (purpose: string, effect: Effect.Effect<Step, Reason>): Effect.Effect<Step, Reason> =>
    Effect.withFiber((caller) => {
      if (work !== undefined) {
        return work.purpose === purpose
          ? Fiber.join(work.fiber)
          : Effect.as(Fiber.await(work.fiber), { _tag: "Waited" })
      }
      const mine: Work = { purpose, fiber: Effect.runForkWith(caller.context)(effect) }
      work = mine
      mine.fiber.addObserver(() => {
        if (work === mine) work = undefined
      })
      return Fiber.join(mine.fiber)
    })
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => (work === undefined ? Effect.void : Effect.asVoid(Fiber.interrupt(work.fiber))))
  )

  return {
    current: Effect.gen(function* () {
      const grant = current
      if (grant?.renewAt === undefined) return { grant, version }
      const now = yield* Clock.currentTimeMillis
      if (now >= grant.renewAt && now >= quietUntil && canRenew(grant)) {
        yield* Effect.exit(share(`renew ${version}`, renewAhead(grant)))
      }
      const ended = current?.expiresAt !== undefined && current.expiresAt <= now
      return { grant: ended ? undefined : current, version }
    }),
    isNewer: (than) => version !== than,
    replace: (wanted, how) => share(`replace ${version} ${how.mayAsk}`, replace(wanted, how)),
    widen: (wanted, how) => share(`widen ${version} ${how.mayAsk} ${Scopes.keyOf(wanted.scopes)}`, widen(wanted, how)),
    leave: Effect.fnUntraced(function* (forget) {
      const grant = current
      hopeless.clear()
      yield* drop
      if (grant === undefined || source.leave === undefined) return
      const { accessToken, clientId, refreshToken, resource } = grant
      const ask = asked({ authorizationServer: yield* serverOf(grant), resource }, [], [])
      yield* source.leave(ask, { token: refreshToken ?? accessToken, clientId }, forget)
    })
  }
})

export interface Grants {
  /** The token to send now, renewed if its end is near; nothing when there is none. */
  readonly current: Effect.Effect<{ readonly grant: Grant | undefined; readonly version: number }>
  /** Whether the token has changed since. */
  readonly isNewer: (version: number) => boolean
  readonly replace: (
    wanted: Wanted,
    how: { readonly mayAsk: boolean; readonly mayRenew: boolean }
  ) => Effect.Effect<Step, Reason>
  readonly widen: (
    wanted: Wanted,
    how: { readonly mayAsk: boolean; readonly tried: ReadonlySet<string> }
  ) => Effect.Effect<Step, Reason>
  /** Drops the token, and tells the server. */
  readonly leave: (forget: boolean) => Effect.Effect<void, Reason>
}
