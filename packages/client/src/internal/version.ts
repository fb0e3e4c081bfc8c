/** The version of `package.json`, which a browser cannot read. `node packages/client/version.ts` writes it here. */
export const version = "0.0.0"
