export * as Commands from "./Commands.ts"
export * as Probe from "./Probe.ts"
export * as Render from "./Render.ts"
export * as Target from "./Target.ts"
