/** Turns a schema's complaint into our named error, field by field. */
import { AppError } from '../../src/errors.ts'

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: { issues: readonly Issue[] } }
}

/** @throws request-invalid */
export function parseRequest<T>(schema: Schema<T>, body: unknown): T {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `/${path.map(String).join('/')}: ${message}`)
  throw new AppError('request-invalid', `request body: ${problems.join('; ')} (shapes: GET /openapi.json)`)
}
