/**
 * Generators of what a server may ask a client: forms, addresses, language models, folders.
 *
 * Every question is one that a good server may ask in 2025-11-25 and in 2026-07-28, and every form can be filled in. Whether
 * a handler of yours answers them all as it should, `HandlerLaws` checks.
 *
 * @since 0.1.0
 */
import type * as Elicitation from "@mcp-effect/protocol/Elicitation"
import type * as Sampling from "@mcp-effect/protocol/Sampling"
import * as Arbitrary from "effect/Arbitrary"
import { element, oneOf } from "./Arbitraries.ts"

const title = element<{ readonly title?: string }>({}, { title: "A title" }, { title: "Ünïcode 読" })

const text: Arbitrary.Arbitrary<Elicitation.Field> = element<Elicitation.Field>(
  { type: "string" },
  { type: "string", minLength: 1, maxLength: 3 },
  { type: "string", description: "Anything you like", default: "like this" },
  { type: "string", format: "email" },
  { type: "string", format: "uri" },
  { type: "string", format: "date" },
  { type: "string", format: "date-time" }
)

const number: Arbitrary.Arbitrary<Elicitation.Field> = element<Elicitation.Field>(
  { type: "number" },
  { type: "integer", minimum: 1, maximum: 3 },
  { type: "number", minimum: -1.5, maximum: -0.5 },
  { type: "integer", default: 7 }
)

const yesNo: Arbitrary.Arbitrary<Elicitation.Field> = element<Elicitation.Field>(
  { type: "boolean" },
  { type: "boolean", default: true }
)

const choice: Arbitrary.Arbitrary<Elicitation.Field> = element<Elicitation.Field>(
  { type: "string", enum: ["red", "green"] },
  { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"], default: "g" },
  { type: "string", oneOf: [{ const: "only", title: "The only one" }] }
)

const several: Arbitrary.Arbitrary<Elicitation.Field> = element<Elicitation.Field>(
  { type: "array", items: { type: "string", enum: ["red", "green", "blue"] } },
  { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1, maxItems: 1 },
  { type: "array", items: { anyOf: [{ const: "a", title: "A" }] }, minItems: 1, default: ["a"] }
)

const field = Arbitrary.map(Arbitrary.all([oneOf(text, number, yesNo, choice, several), title]), ([kind, labels]) => ({
  ...kind,
  ...labels
}))

/**
 * A form of up to four fields of every kind, some required. One without a field asks for consent alone.
 *
 * @category questions
 * @since 0.1.0
 */
export const form: Arbitrary.Arbitrary<Elicitation.FormParams> = Arbitrary.map(
  Arbitrary.all({
    message: element("Who are you?", "", "読\n<b>bold</b>"),
    fields: Arbitrary.array(Arbitrary.all([field, element(false, true)]), { maxLength: 4 })
  }),
  ({ fields, message }) => {
    const names = ["name", "a b", "constructor", "読"]
    return {
      mode: "form",
      message,
      requestedSchema: {
        type: "object",
        properties: Object.fromEntries(fields.map(([each], at) => [names[at] ?? `field ${at}`, each])),
        required: names.filter((_, at) => fields[at]?.[1] === true)
      }
    }
  }
)

/**
 * Asks to open a web page.
 *
 * @category questions
 * @since 0.1.0
 */
export const address: Arbitrary.Arbitrary<Elicitation.UrlParams> = Arbitrary.map(
  element(
    "https://example.com/",
    "https://example.com/sign-in?state=1#top",
    "https://bücher.example/",
    "http://127.0.0.1:1/"
  ),
  (url) => ({ mode: "url", message: "Please sign in", url })
)

/**
 * Asks to open what no web page is, or what hides whose page it is. No such question may be accepted (M-ELI-19 to 23).
 *
 * @category questions
 * @since 0.1.0
 */
export const badAddress: Arbitrary.Arbitrary<Elicitation.UrlParams> = Arbitrary.map(
  element(
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://example.com/",
    "https://example.com@evil.example/",
    "mailto:a@example.com",
    "-rf",
    ""
  ),
  (url) => ({ mode: "url", message: "Please sign in", url })
)

const tool = { name: "look_up", inputSchema: { type: "object", properties: { word: { type: "string" } } } }

const message: Arbitrary.Arbitrary<Sampling.Message> = element<Sampling.Message>(
  { role: "user", content: { type: "text", text: "What is the capital of France?" } },
  { role: "assistant", content: { type: "text", text: "" } },
  {
    role: "user",
    content: [
      { type: "text", text: "What is" },
      { type: "text", text: "this?" }
    ]
  },
  { role: "user", content: { type: "image", data: "aGVsbG8=", mimeType: "image/png" } },
  { role: "user", content: { type: "audio", data: "aGVsbG8=", mimeType: "audio/wav" } }
)

/**
 * Asks a language model. With `tools` some questions offer one.
 *
 * @category questions
 * @since 0.1.0
 */
export const sampling = (options: { readonly tools?: boolean } = {}): Arbitrary.Arbitrary<Sampling.Params> =>
  Arbitrary.map(
    Arbitrary.all({
      messages: Arbitrary.array(message, { minLength: 1, maxLength: 3 }),
      maxTokens: element(100, 1, 1_000_000),
      more: element<Partial<Sampling.Params>>(
        {},
        { systemPrompt: "Be brief.", temperature: 0.5, stopSequences: ["\n"] },
        { modelPreferences: { hints: [{ name: "small" }], costPriority: 1, speedPriority: 0 } },
        { metadata: { seen: true } }
      ),
      offered: element<Partial<Sampling.Params>>(
        {},
        ...(options.tools === true
          ? [
              { tools: [tool] },
              { tools: [tool], toolChoice: { mode: "required" as const } },
              { tools: [tool], toolChoice: { mode: "none" as const } }
            ]
          : [])
      )
    }),
    ({ maxTokens, messages, more, offered }) => ({ messages, maxTokens, ...more, ...offered })
  )
