/**
 * Wire habits, revision by revision.
 */
import type { Habits } from "../Revision.ts"
import type { Version } from "../Version.ts"

const handshake: Habits = {
  identity: "handshake",
  serverRequests: true,
  batches: false,
  http: {
    versionHeader: "afterHandshake",
    routingHeaders: false,
    session: true,
    getStream: true,
    resumption: true,
    cancellation: "notification"
  }
}

const everyRequest: Habits = {
  identity: "everyRequest",
  serverRequests: false,
  batches: false,
  http: {
    versionHeader: "always",
    routingHeaders: true,
    session: false,
    getStream: false,
    resumption: false,
    cancellation: "closeStream"
  }
}

export const habitsOf: { readonly [V in Version]: Habits } = {
  "2024-11-05": handshake,
  "2025-03-26": { ...handshake, batches: true },
  "2025-06-18": handshake,
  "2025-11-25": handshake,
  "2026-07-28": everyRequest
}
