/** The MCP server as a protected resource: its canonical name, and whether metadata speaks for it. */

/** Canonical server URI (M-AUTH-23): no fragment, no trailing slash on an empty path. */
export const canonical = (server: URL): string => {
  const url = new URL(server)
  url.hash = ""
  url.username = ""
  url.password = ""
  return url.pathname === "/" && url.search === "" ? url.origin : url.href
}

const segments = ({ pathname }: URL) => pathname.replace(/\/$/, "").split("/")

/**
 * Same origin, and the resource's path is the server's or begins it segment by segment. A trailing slash makes no
 * difference (A-2-5, T-OAUTH-2).
 */
export const covers = (resource: URL, server: URL): boolean => {
  if (resource.origin !== server.origin || resource.hash !== "") return false
  if (resource.search !== "" && resource.search !== server.search) return false
  const theirs = segments(resource)
  const ours = segments(server)
  return theirs.every((segment, index) => segment === ours[index])
}

/** Where protected resource metadata may be, in the order to ask (A-2-1, T-OAUTH-1). */
export const wellKnown = (server: URL): ReadonlyArray<string> => {
  const root = `${server.origin}/.well-known/oauth-protected-resource`
  const path = server.pathname.replace(/\/$/, "")
  return path === "" ? [root] : [`${root}${path}${server.search}`, root]
}
