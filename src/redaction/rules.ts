/** All redaction rules; where two find the same text the first one names it. */
import { CONTEXT_RULES } from './context-rules.ts'
import type { RedactionRule } from './rule.ts'
import { TOKEN_RULES } from './token-rules.ts'

export const REDACTION_RULES: readonly RedactionRule[] = [...TOKEN_RULES, ...CONTEXT_RULES]
