/** What a client looks like to the benchmark: plain promises, so that any client fits. */

export type Era = "modern" | "legacy"

export type Target =
  | { readonly kind: "stdio"; readonly command: string; readonly args: ReadonlyArray<string> }
  | { readonly kind: "http"; readonly url: string }

export interface Connected {
  readonly callTool: (name: string, args: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

export interface Client {
  readonly name: string
  readonly connect: (target: Target, options: { readonly era: Era }) => Promise<Connected>
}
