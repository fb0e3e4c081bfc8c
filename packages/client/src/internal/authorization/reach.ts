/**
 * Which addresses may be contacted on the word of a server (T-SEC-1, T-SEC-3, M-AUTH-41).
 *
 * Only https, and http on the loopback. Nothing inside when the server itself is outside. Names are judged by how they
 * look, and by what they resolve to where a resolver is given.
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import type * as Dns from "effect/net/Dns"
import * as Host from "effect/net/Host"
import * as NetAddress from "effect/net/NetAddress"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { AddressRefused } from "../../AuthorizationError.ts"

export type Reach = "public" | "loopback" | "private" | "reserved"

const within = (octets: NetAddress.Ipv4Octets, first: number, from = 0, to = 255) =>
  octets[0] === first && octets[1] >= from && octets[1] <= to

const ofIpv4 = (address: NetAddress.Ipv4Address): Reach => {
  if (NetAddress.isLoopback(address)) return "loopback"
  const octets = NetAddress.ipv4ToOctets(address)
  if (NetAddress.isPrivate(address) || within(octets, 100, 64, 127)) return "private"
  const special = octets[0] === 0 || octets[0] >= 224 || within(octets, 198, 18, 19)
  const assigned = octets[0] === 192 && octets[1] === 0 && octets[2] === 0
  return special || assigned || NetAddress.isLinkLocal(address) ? "reserved" : "public"
}

const ofIpv6 = (address: NetAddress.Ipv6Address): Reach => {
  if (NetAddress.isLoopback(address)) return "loopback"
  const segments = NetAddress.ipv6ToSegments(address)
  const [first, , , , , mapped, high, low] = segments
  const leading = segments.slice(0, 5).every((segment) => segment === 0)
  const translated = first === 0x64 && segments[1] === 0xff9b
  if ((leading && (mapped === 0xffff || mapped === 0)) || translated) {
    const inner = NetAddress.ipv4FromOctets([high >> 8, high & 255, low >> 8, low & 255])
    return Result.isSuccess(inner) ? ofIpv4(inner.success) : "reserved"
  }
  if (NetAddress.isUniqueLocal(address)) return "private"
  return NetAddress.isLinkLocal(address) || NetAddress.isMulticast(address) || (first & 0xffc0) === 0xfec0
    ? "reserved"
    : "public"
}

const ofAddress = (address: NetAddress.IpAddress): Reach =>
  NetAddress.isIpv4Address(address) ? ofIpv4(address) : ofIpv6(address)

const insideNames = /\.(?:local|internal|intranet|lan|home|corp|home\.arpa)$/

/** How far the host of a parsed URL reaches. */
export const of = ({ hostname }: URL): Reach => {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")
  const address = NetAddress.ipFromString(host)
  if (Result.isSuccess(address)) return ofAddress(address.success)
  if (host === "localhost" || host.endsWith(".localhost")) return "loopback"
  return host.includes(".") && !insideNames.test(host) ? "public" : "private"
}

/** What addresses are held against. */
export interface Policy {
  /** The MCP server the user configured. */
  readonly server: URL
  /** Inside addresses that are allowed all the same. */
  readonly allow: (url: URL) => boolean
  readonly dns: Dns.Dns["Service"] | undefined
}

const permits = (server: Reach, reach: Reach) =>
  reach === "public" || (server === "loopback" && reach !== "reserved") || (server === "private" && reach === "private")

const inside: Record<Exclude<Reach, "public">, string> = {
  loopback: "it points to this machine, and the server is elsewhere",
  private: "it points into a private network, and the server is outside",
  reserved: "it points to a link-local or reserved address"
}

/** Why a URL may not be used, judged without asking anybody. */
const objection = ({ allow, server }: Policy, url: URL): string | undefined => {
  const reach = of(url)
  if (url.protocol !== "https:" && !(url.protocol === "http:" && reach === "loopback")) {
    return "only https is allowed, and http on the loopback"
  }
  if (url.username !== "" || url.password !== "") return "it holds a user name or a password"
  if (reach === "public" || permits(of(server), reach) || allow(url)) return undefined
  return inside[reach]
}

const reachOfName = (dns: Dns.Dns["Service"], url: URL): Effect.Effect<ReadonlyArray<Reach>> => {
  const name = Host.domainNameFromString(url.hostname)
  if (Result.isFailure(name)) return Effect.succeed([])
  return Effect.match(dns.lookup(name.success), {
    onFailure: () => [],
    onSuccess: (addresses) => addresses.map(ofAddress)
  })
}

/** Parses an address and holds it against the policy. */
export const check = Effect.fnUntraced(function* (
  policy: Policy,
  what: string,
  address: string
): Effect.fn.Return<URL, AddressRefused> {
  const refuse = (because: string) => new AddressRefused({ what, address: excerpt(address), because })
  const parsed = Result.try(() => new URL(address))
  if (Result.isFailure(parsed)) return yield* refuse("it is no URL")
  const url = parsed.success
  const because = objection(policy, url)
  if (because !== undefined) return yield* refuse(because)
  if (policy.dns === undefined || of(url) !== "public" || policy.allow(url)) return url
  // A server that itself is inside under a public name may name others inside.
  const servers = yield* reachOfName(policy.dns, policy.server)
  for (const reach of yield* reachOfName(policy.dns, url)) {
    const allowed = permits(of(policy.server), reach) || servers.some((server) => permits(server, reach))
    if (reach !== "public" && !allowed) return yield* refuse(`its name resolves inside: ${inside[reach]}`)
  }
  return url
})
