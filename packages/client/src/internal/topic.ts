/**
 * What can be watched, each as one text: a filter becomes a set of them, which is easy to unite, compare and subtract.
 */
import * as Capabilities from "@mcp-effect/protocol/Capabilities"
import type * as Subscription from "@mcp-effect/protocol/Subscription"
import { Change, type Filter } from "../Change.ts"

/** One of the three lists, or `at ` and the address of a resource. */
export type Topic = "tools" | "prompts" | "resources" | `at ${string}`

export type Topics = ReadonlySet<Topic>

export const at = (uri: string): Topic => `at ${uri}`

/** The address of a resource, for a topic that is one. */
export const uriOf = (topic: Topic): string | undefined => (topic.startsWith("at ") ? topic.slice(3) : undefined)

export const urisOf = (topics: Iterable<Topic>): ReadonlyArray<string> =>
  [...topics].map(uriOf).filter((uri) => uri !== undefined)

export const ofFilter = ({ prompts, resources, resourceUris = [], tools }: Filter): Topics =>
  new Set<Topic>([
    ...(tools === true ? ["tools" as const] : []),
    ...(prompts === true ? ["prompts" as const] : []),
    ...(resources === true ? ["resources" as const] : []),
    ...resourceUris.map(at)
  ])

export const toFilter = (topics: Topics): Filter => {
  const resourceUris = urisOf(topics)
  return {
    ...(topics.has("tools") ? { tools: true } : {}),
    ...(topics.has("prompts") ? { prompts: true } : {}),
    ...(topics.has("resources") ? { resources: true } : {}),
    ...(resourceUris.length === 0 ? {} : { resourceUris })
  }
}

/** As `subscriptions/listen` writes it. */
export const toWire = (topics: Topics): Subscription.Filter => {
  const { prompts, resources, resourceUris, tools } = toFilter(topics)
  return {
    ...(tools === undefined ? {} : { toolsListChanged: true }),
    ...(prompts === undefined ? {} : { promptsListChanged: true }),
    ...(resources === undefined ? {} : { resourcesListChanged: true }),
    ...(resourceUris === undefined ? {} : { resourceSubscriptions: resourceUris })
  }
}

export const ofWire = (filter: Subscription.Filter): Topics =>
  ofFilter({
    tools: filter.toolsListChanged === true,
    prompts: filter.promptsListChanged === true,
    resources: filter.resourcesListChanged === true,
    resourceUris: filter.resourceSubscriptions ?? []
  })

export const changeOf = (topic: Topic): Change => {
  switch (topic) {
    case "tools":
      return Change.ToolsChanged()
    case "prompts":
      return Change.PromptsChanged()
    case "resources":
      return Change.ResourcesChanged()
    default:
      return Change.ResourceUpdated({ uri: uriOf(topic) ?? topic })
  }
}

const capabilityOf = (topic: Topic): Capabilities.Path => {
  switch (topic) {
    case "tools":
    case "prompts":
    case "resources":
      return [topic, "listChanged"]
    default:
      return ["resources", "subscribe"]
  }
}

/** Whether a server that says this of itself reports a topic. Nothing known is not a no. */
export const isAnnounced = (topic: Topic, capabilities: Capabilities.Server | undefined): boolean =>
  capabilities === undefined || Capabilities.declares(capabilities, capabilityOf(topic))

/** Whether one address lies below another: `file:///a/b` below `file:///a`. */
export const isBelow = (uri: string, above: string): boolean =>
  uri.startsWith(above) && (above.endsWith("/") || ["/", "?", "#"].includes(uri.charAt(above.length)))

export const isSame = (left: Topics, right: Topics): boolean =>
  left.size === right.size && [...left].every((topic) => right.has(topic))
