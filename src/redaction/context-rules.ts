/**
 * Secrets that are recognised by what stands before them: headers, addresses, assignments. Pure.
 */
import { bitsPerCharacter, fakeSecret, hit, type RedactionRule } from './rule.ts'

/** What people write where a secret belongs. */
const PLACEHOLDER =
  /^(?:your|my|the|some|test|dummy|fake|sample|example|change|placeholder|redacted|masked|hidden|secret|password|passwd|token|user|none|null|undefined|true|false|todo|env|process\.env|os\.|x{3,}|\*{3,}|\.{3}|-{3,}|_{3,})/i

/** Random enough: letters and digits or signs, no repetition, no name of a variable, no path. */
function looksRandom(secret: string, quoted: boolean): boolean {
  if (PLACEHOLDER.test(secret) || bitsPerCharacter(secret) < 2.5) return false
  const digits = secret.match(/\d/g)?.length ?? 0
  if (!/[A-Za-z]/.test(secret) || (digits === 0 && !/[!@#%^&*+/=~]/.test(secret))) return false
  if (/^[~.]{0,2}(?:\/[a-z_.-]+)+\/?$/.test(secret)) return false
  const isName = /^[*&]?[A-Za-z_$][\w$]*(?:[.:][A-Za-z_$][\w$]*)*$/.test(secret)
  return quoted || !isName || digits >= 3
}

const HEX = '0123456789abcdef'

export const CONTEXT_RULES: readonly RedactionRule[] = [
  {
    id: 'aws-secret-key',
    sentence: 'AWS secret access keys and session tokens after their name.',
    pattern:
      /(?<head>aws_?(?:secret_?access_?key|secret_?key|session_?token)["']?\s*[=:]\s*["']?)(?<secret>[A-Za-z0-9/+=]{40,2000})/gi,
    wraps: /[A-Za-z0-9/+=]+/y,
    hits: [
      hit(fakeSecret('', 40), 'aws_secret_access_key = '),
      hit(fakeSecret('', 40), '"AWS_SECRET_ACCESS_KEY": "', '"'),
      hit(fakeSecret('', 356), 'AWS_SESSION_TOKEN='),
    ],
    misses: [`aws_secret_access_key = ${'$'}{AWS_SECRET}`, 'AWS_SECRET_ACCESS_KEY=AKIA'],
  },
  {
    id: 'authorization-header',
    sentence: 'Credentials in Authorization headers (Bearer, Basic, token), and what follows the word Bearer.',
    pattern:
      /(?<head>authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token|apikey)\s+|(?<![\w-])bearer\s+)(?<secret>[A-Za-z0-9._~+/=-]{16,})/gi,
    wraps: /[A-Za-z0-9._~+/=-]+/y,
    isSecret: (secret) => looksRandom(secret, false),
    hits: [
      hit(fakeSecret('', 40), 'Authorization: Bearer '),
      hit('dXNlcjE6cGEkJHcwcmQ=', '"authorization": "Basic ', '"'),
      hit(fakeSecret('', 32, HEX), "-H 'authorization: token ", "'"),
    ],
    misses: [
      'Authorization: Bearer $TOKEN_OF_THE_SERVICE',
      'the bearer authentication scheme',
      'Authorization: Bearer YOUR_API_KEY_GOES_HERE_1',
      'bearer responsibilities-of-everyone',
    ],
  },
  {
    id: 'url-password',
    sentence: 'Passwords in addresses (scheme://user:password@host).',
    pattern: /(?<head>[a-z0-9]:\/\/[^\s:/@"'<>]{0,100}:)(?<secret>[^\s/@"'<>]{3,200})(?=@[\w.[-])/gi,
    isSecret: (secret) => !PLACEHOLDER.test(secret) && !/^[$%{]/.test(secret),
    hits: [
      hit('hunter2x', 'postgres://admin:', '@db.internal:5432/app'),
      hit('s3cr:et', 'https://bot:', '@example.com/x.git'),
    ],
    misses: [
      'postgres://user:password@localhost/db',
      'https://example.com:8080/a@b',
      'redis://:$' + '{REDIS_PASSWORD}@cache',
      'see http://localhost:3000 and mail me@example.com',
    ],
  },
  {
    id: 'url-signature',
    sentence:
      'Signatures, credentials and tokens in the query of a presigned address (S3, Google Cloud, Azure, CloudFront).',
    pattern:
      /(?<head>[?&](?:amp;)?(?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|Signature|sig|AWSAccessKeyId|access_token|id_token|refresh_token|api_?key|auth_?token|token|Policy|Key-Pair-Id)=)(?<secret>[A-Za-z0-9%/+_.~=-]{16,})/gi,
    wraps: /[A-Za-z0-9%/+_.~=-]+/y,
    isSecret: (secret) => looksRandom(secret, true),
    hits: [
      hit(fakeSecret('', 64, HEX), 'https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature='),
      hit(fakeSecret('', 40), 'https://a.blob.core.windows.net/c/f?se=2030&sig=', '&sp=r'),
      hit(fakeSecret('', 40), 'https://api.example.com/v1?access_token='),
    ],
    misses: ['https://example.com/search?sig=short', 'https://x.org/?token=your-token-goes-here-please'],
  },
  {
    id: 'assignment',
    sentence:
      'Values of 8 or more characters assigned to a name that ends in password, secret, token, api key and the like, if they look random: a letter, a digit or sign, at least 2.5 bits per character, no placeholder and no name of a variable.',
    pattern:
      /(?<head>(?:passw(?:or)?d|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|auth[_-]?key|secret[_-]?key|account[_-]?key|private[_-]?key|token|credentials?)\\?["']?\s*(?:=>|:=|[=:])\s*\\?["'`]?)(?<secret>[^\s"'`,;(){}[\]<>\\|$&]{8,512})(?![\w(.[$])/gi,
    isSecret: looksRandom,
    hits: [
      hit('hX9!vkq2', 'password: '),
      hit(fakeSecret('', 24), 'API_KEY="', '"'),
      hit(fakeSecret('', 32, HEX), '{"client_secret": "', '"}'),
      hit('correct-horse7', "DB_PASSWORD='", "'"),
      hit(fakeSecret('', 20), '\\"token\\": \\"', '\\"'),
    ],
    misses: [
      'password: string',
      'def login(password=getpass.getpass()):',
      'api_key=os.environ["OPENAI_API_KEY"]',
      'API_KEY=$' + '{API_KEY2}',
      'password = "********"',
      'api_key: YOUR_API_KEY_1234',
      'max_tokens=40960000a1',
      'flags.PWD = *envFlags.PWD',
      '"PWD": "/data/pwd"',
      'token: 12345678',
      'const token = tokenizer2.next()',
      'secret: <paste it here 123>',
      'tokenizer: gpt2-large-2024',
      'the secret = passwordpassword',
    ],
  },
]

/** Identifiers that no rule may take for a secret. */
export const NO_SECRETS: readonly string[] = [
  'commit 3f786850e387550fdab836ed7e6dc881de23001b',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'request 550e8400-e29b-41d4-a716-446655440000 failed',
  'toolu_01A09q90qw90lq917835lq9 call_abc123DEF456ghi789JKL012',
  '"encrypted_content":"gAAAAABoISQ24OyVRYbkYfukdJoqdzWT-sk-3B2Y_vzz7z8WDhY3b9QU0xAKIAzzzz"',
  'integrity sha512-L+qnVTvr9dDvCTH5DyVIBCuqPjbqTUuF6X/PD0kL8aH0+NBzSZ8sXJn5YLfsmbPAsXPGzYyvBA==',
  'https://example.com/task-list/risk-register?page=2&sort=token',
]
