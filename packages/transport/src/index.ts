export * as Pipe from "./Pipe.ts"
export * as Stdio from "./Stdio.ts"
export * as Transport from "./Transport.ts"
export * as TransportError from "./TransportError.ts"
