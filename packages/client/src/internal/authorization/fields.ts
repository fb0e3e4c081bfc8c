/**
 * Tolerant reading of JSON documents of the other side. A member of the wrong type counts as absent, and so does `null`
 * (T-OAUTH-5); inherited members are never seen.
 */
export type Document = Readonly<Record<string, unknown>>

export const isDocument = (value: unknown): value is Document =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const own = (document: Document, key: string): unknown => (Object.hasOwn(document, key) ? document[key] : undefined)

export const text = (document: Document, key: string): string | undefined => {
  const value = own(document, key)
  return typeof value === "string" && value !== "" ? value : undefined
}

export const texts = (document: Document, key: string): ReadonlyArray<string> | undefined => {
  const value = own(document, key)
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined
}

export const flag = (document: Document, key: string): boolean => own(document, key) === true

/** A number, also when it came as text. */
export const count = (document: Document, key: string): number | undefined => {
  const value = own(document, key)
  const number = typeof value === "string" && /^\d{1,15}$/.test(value.trim()) ? Number(value) : value
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : undefined
}
