/**
 * zod schema -> the JSON Schema that is sent as response_format. Strict structured output takes a subset: no bounds, no
 * `$schema`; every property required, no other allowed (zod writes both).
 */
import { z } from 'zod'
import type { ChatRequest } from '../../../models/chat/port.ts'

type AnswerFormat = NonNullable<ChatRequest['answer']>

export function answerFormat(name: string, schema: z.ZodType): AnswerFormat {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => {
      delete jsonSchema.minimum
      delete jsonSchema.maximum
    },
  })
  return { name, schema: json }
}

const wholeNumber = z.union([
  z.int(),
  z
    .string()
    .regex(/^\s*\d+\s*$/)
    .transform(Number),
])
const text = z.union([z.string(), z.number().transform(String), z.null().transform(() => '')]).default('')

/** What models write in place of what was asked, where the meaning is beyond doubt. */
export const TOLERANT = {
  /** 12 or "12". */
  index: wholeNumber.pipe(z.int().nonnegative()),
  /** Missing or null is "". */
  text,
  quotes: z
    .array(z.object({ interaction: wholeNumber.pipe(z.int().nonnegative()), quote: z.string() }))
    .nullish()
    .transform((value) => value ?? []),
} as const

/** The first few things that are wrong, with their places: `evidence.0.quote: expected string`. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .slice(0, 3)
    .map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`)
    .join('; ')
}
