/**
 * Protocol versions and the two eras.
 *
 * A version is the date of a revision of the Model Context Protocol. Versions up to 2025-11-25 open with the
 * `initialize` handshake and hold a session: the legacy era. From 2026-07-28 on every request stands alone and
 * `server/discover` says what the server speaks: the modern era. The order of both lists is the client's order of
 * preference, newest first; versions are never compared as text.
 *
 * @since 0.1.0
 */

/**
 * The two ways of speaking MCP.
 *
 * @category models
 * @since 0.1.0
 */
export type Era = "modern" | "legacy"

/**
 * Versions of the modern era that this package implements, newest first.
 *
 * @category versions
 * @since 0.1.0
 */
export const modern = ["2026-07-28"] as const

/**
 * Versions of the legacy era that this package implements, newest first.
 *
 * @category versions
 * @since 0.1.0
 */
export const legacy = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const

/**
 * A modern version.
 *
 * @category models
 * @since 0.1.0
 */
export type Modern = (typeof modern)[number]

/**
 * A legacy version.
 *
 * @category models
 * @since 0.1.0
 */
export type Legacy = (typeof legacy)[number]

/**
 * Any version that this package implements.
 *
 * @category models
 * @since 0.1.0
 */
export type Version = Modern | Legacy

/**
 * Whether the text names a modern version that this package implements.
 *
 * @category guards
 * @since 0.1.0
 */
export const isModern = (version: string): version is Modern => modern.some((known) => known === version)

/**
 * Whether the text names a legacy version that this package implements.
 *
 * @category guards
 * @since 0.1.0
 */
export const isLegacy = (version: string): version is Legacy => legacy.some((known) => known === version)

/**
 * The era of a version, or `undefined` when this package does not know the version.
 *
 * @category accessors
 * @since 0.1.0
 */
export const eraOf = (version: string): Era | undefined =>
  isModern(version) ? "modern" : isLegacy(version) ? "legacy" : undefined
