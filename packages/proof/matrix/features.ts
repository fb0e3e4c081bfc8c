/**
 * What a client can do, as data: one row per feature, each with the way to see whether a server offers it and a check that
 * uses it and looks at what came of it. The checks use nothing but what this library publishes.
 */
import { pushes } from "./pushes.ts"
import { requests } from "./requests.ts"

export const features = [...requests, ...pushes] as const

export type Name = (typeof features)[number]["name"]
