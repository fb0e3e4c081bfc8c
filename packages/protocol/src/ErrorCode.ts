/**
 * The numbers in JSON-RPC errors that MCP gives a meaning to (M-ERR).
 *
 * Any other number may come from a server too; it stays a number, and nothing is read into it.
 *
 * @since 0.1.0
 */

/**
 * The text was not JSON.
 *
 * @category codes
 * @since 0.1.0
 */
export const ParseError = -32700

/**
 * The JSON was no valid request.
 *
 * @category codes
 * @since 0.1.0
 */
export const InvalidRequest = -32600

/**
 * The method, or the capability it belongs to, does not exist here.
 *
 * @category codes
 * @since 0.1.0
 */
export const MethodNotFound = -32601

/**
 * The parameters do not fit. Used for much: unknown tools and prompts, bad cursors, a resource that does not exist
 * (modern), a mode that was not declared. Decide by the request, never by the text.
 *
 * @category codes
 * @since 0.1.0
 */
export const InvalidParams = -32602

/**
 * The server failed.
 *
 * @category codes
 * @since 0.1.0
 */
export const InternalError = -32603

/**
 * Legacy era: there is no such resource. A modern server says `InvalidParams` instead.
 *
 * @category codes
 * @since 0.1.0
 */
export const ResourceNotFound = -32002

/**
 * 2025-11-25 only: the user has to visit an address first; `data.elicitations` names them.
 *
 * @category codes
 * @since 0.1.0
 */
export const UrlElicitationRequired = -32042

/**
 * Modern era: headers and body of a request disagree.
 *
 * @category codes
 * @since 0.1.0
 */
export const HeaderMismatch = -32020

/**
 * Modern era: the request needs a client capability that it did not declare; `data.requiredCapabilities` shows which.
 *
 * @category codes
 * @since 0.1.0
 */
export const MissingRequiredClientCapability = -32021

/**
 * Modern era: the server does not speak the version of the request; `data.supported` lists those it does.
 *
 * @category codes
 * @since 0.1.0
 */
export const UnsupportedProtocolVersion = -32022

/**
 * Legacy era, sent by a client: the user said no to a sampling request.
 *
 * @category codes
 * @since 0.1.0
 */
export const UserRejected = -1

const names: ReadonlyMap<number, string> = new Map([
  [ParseError, "ParseError"],
  [InvalidRequest, "InvalidRequest"],
  [MethodNotFound, "MethodNotFound"],
  [InvalidParams, "InvalidParams"],
  [InternalError, "InternalError"],
  [ResourceNotFound, "ResourceNotFound"],
  [UrlElicitationRequired, "UrlElicitationRequired"],
  [HeaderMismatch, "HeaderMismatch"],
  [MissingRequiredClientCapability, "MissingRequiredClientCapability"],
  [UnsupportedProtocolVersion, "UnsupportedProtocolVersion"],
  [UserRejected, "UserRejected"]
])

/**
 * The name of a code, `undefined` for one that the protocol does not define.
 *
 * @category accessors
 * @since 0.1.0
 */
export const nameOf = (code: number): string | undefined => names.get(code)

/**
 * Whether a code lies in the range that the specification keeps for itself, `-32020` to `-32099` (M-ERR-4), and is not
 * `-32042`, which an older revision used. Only a modern server has a reason to send one.
 *
 * @category guards
 * @since 0.1.0
 */
export const isModern = (code: number): boolean => code <= -32020 && code >= -32099 && code !== UrlElicitationRequired
