/** Text of the other side, made fit for messages. */
const maxLength = 200
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

export const plain = (text: string): string => {
  const clean = [...text.slice(0, 2 * maxLength + 2).replaceAll(control, "\ufffd")]
  return clean.length > maxLength ? `${clean.slice(0, maxLength).join("")}…` : clean.join("")
}

/** A URL without its query, fragment and credentials, which may hold secrets. */
export const shown = (url: URL): string => plain(`${url.origin === "null" ? url.protocol : url.origin}${url.pathname}`)
