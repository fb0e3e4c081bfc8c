export * as Script from "./Script.ts"
export * as ScriptedServer from "./ScriptedServer.ts"
export * as Transcript from "./Transcript.ts"
