/**
 * Secrets that are recognised by their own form: keys with a vendor's prefix, JSON web tokens, PEM blocks. Pure.
 * No token starts inside a longer word: "Mask-RCNN-..." and base64url ciphertext hold "sk-" too (formats.md rule 9).
 */
import { fakeSecret, hit, type RedactionRule } from './rule.ts'

/** What may not stand directly before a token. */
const START = '(?<![A-Za-z0-9_+/-])'
const UPPER = 'QWERTYUIOPASDFGHJKLZXCVBNM234567'

const BASE64URL = /[A-Za-z0-9_-]+/y

/** @param body length of what follows the prefix, at least, when it stands on one line */
function token(rule: {
  readonly id: string
  readonly sentence: string
  readonly prefix: string
  readonly chars: RegExp
  readonly body: number
  readonly hits: RedactionRule['hits']
  readonly misses: readonly string[]
}): RedactionRule {
  const { prefix, chars, body, ...rest } = rule
  const start = new RegExp(`^(?:${prefix})`)
  return {
    ...rest,
    // Shorter ones are found too: the rest may stand on the next line.
    pattern: new RegExp(`${START}(?:${prefix})${chars.source.replace(/\+$/, '*')}`, 'g'),
    wraps: chars,
    isSecret: (secret) => secret.length - (start.exec(secret)?.[0].length ?? 0) >= body,
  }
}

const pem = (kind: string, lines: number): string =>
  [`-----BEGIN ${kind}-----`, ...Array.from({ length: lines }, () => fakeSecret('', 64)), `-----END ${kind}-----`].join(
    '\n',
  )

const jwt = (): string => ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', fakeSecret('', 43)].join('.')

export const TOKEN_RULES: readonly RedactionRule[] = [
  {
    id: 'private-key',
    sentence: 'PEM private keys, also those whose end is missing.',
    pattern:
      /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]{0,20000}?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|(?:\s*[A-Za-z0-9+/=:-]{16,})*)/g,
    hits: [
      hit(pem('RSA PRIVATE KEY', 3)),
      hit(pem('PRIVATE KEY', 1)),
      hit(pem('OPENSSH PRIVATE KEY', 3).split('\n').slice(0, 3).join('\n'), 'cat id\n', '\n$ ls'),
    ],
    misses: [pem('PUBLIC KEY', 1), pem('CERTIFICATE', 2)],
  },
  token({
    id: 'aws-access-key',
    sentence: 'AWS access key ids (AKIA..., ASIA...).',
    prefix: 'A(?:KI|SI|BI|CC)A(?=[A-Z2-7\\r\\n])',
    chars: /[A-Z2-7]+/y,
    body: 16,
    hits: [hit(fakeSecret('AKIA', 16, UPPER)), hit(fakeSecret('ASIA', 16, UPPER), 'id="', '"')],
    misses: ['AKIA', 'the AKIAK river', fakeSecret('AKIA', 15, UPPER)],
  }),
  token({
    id: 'github-token',
    sentence: 'GitHub tokens (ghp_, gho_, ghu_, ghs_, ghr_, github_pat_).',
    prefix: 'gh[pousr]_|github_pat_',
    chars: /[A-Za-z0-9_]+/y,
    body: 30,
    hits: [
      hit(fakeSecret('ghp_', 36)),
      hit(fakeSecret('github_pat_', 82)),
      hit(fakeSecret('ghs_', 36), 'https://x:', '@github.com'),
    ],
    misses: ['ghp_token', 'github_pat_TOKEN', `gho_${'a'.repeat(10)}`],
  }),
  token({
    id: 'gitlab-token',
    sentence: 'GitLab tokens (glpat-, gldt-, glrt-, glptt-, glcbt- and their like).',
    prefix: 'gl(?:pat|dt|rt|ptt|cbt|ft|imt|soat|oas|agent)-',
    chars: BASE64URL,
    body: 20,
    hits: [hit(fakeSecret('glpat-', 20)), hit(fakeSecret('glrt-', 26))],
    misses: ['glpat-your-token', 'glft-short'],
  }),
  token({
    id: 'slack-token',
    sentence: 'Slack tokens (xoxb-, xoxp-, xapp- and their like).',
    prefix: 'xox[abceoprs]-|xapp-',
    chars: /[A-Za-z0-9.-]+/y,
    body: 24,
    hits: [hit(fakeSecret('xoxb-', 50)), hit(fakeSecret('xapp-1-', 60))],
    misses: ['xoxb-your-token-here', 'xapp-1'],
  }),
  {
    id: 'webhook',
    sentence: 'Webhook addresses of Slack and Discord: whoever has one can post.',
    pattern:
      /(?<head>https:\/\/(?:hooks\.slack\.com\/(?:services|workflows)|discord(?:app)?\.com\/api\/webhooks)\/)(?<secret>[A-Za-z0-9_/-]{20,})/g,
    wraps: /[A-Za-z0-9_/-]+/y,
    hits: [
      hit(fakeSecret('T00/B00/', 24), 'https://hooks.slack.com/services/'),
      hit(fakeSecret('123456789012345678/', 60), 'https://discord.com/api/webhooks/'),
    ],
    misses: ['https://hooks.slack.com/services/', 'https://api.slack.com/messaging/webhooks'],
  },
  token({
    id: 'google-key',
    sentence: 'Google API keys (AIza...), OAuth access tokens (ya29.) and client secrets (GOCSPX-).',
    prefix: 'AIza|ya29\\.|GOCSPX-',
    chars: BASE64URL,
    body: 28,
    hits: [hit(fakeSecret('AIza', 35)), hit(fakeSecret('ya29.', 60)), hit(fakeSecret('GOCSPX-', 28))],
    misses: ['AIza', 'AIzaSy-your-key', 'ya29.example'],
  }),
  token({
    id: 'model-key',
    sentence:
      'Keys of model providers: sk-proj-, sk-svcacct-, sk-admin-, sk-ant-, sk-or-, gsk_, hf_, xai-, pplx-, r8_ and the plain sk- of 32 or more letters and digits.',
    prefix: 'sk-(?:proj|svcacct|admin|or-v1|ant-[a-z0-9]{3,8})-|sk-(?=[A-Za-z0-9]{32})|gsk_|hf_|xai-|pplx-|r8_',
    chars: BASE64URL,
    body: 30,
    hits: [
      hit(fakeSecret('sk-proj-', 74)),
      hit(fakeSecret('sk-ant-api03-', 95), '"', '"'),
      hit(fakeSecret('sk-or-v1-', 64, '0123456789abcdef')),
      hit(fakeSecret('sk-', 48)),
      hit(fakeSecret('sk-', 32, '0123456789abcdef')),
      hit(fakeSecret('gsk_', 52)),
      hit(fakeSecret('hf_', 34)),
    ],
    misses: [
      'Mask-RCNN-ResNet101-FPN-COCO-pretrained-2017-weights',
      'mask-rcnn-resnet101fpncocopretrained2017weightsv2',
      'task-proj-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1',
      `${fakeSecret('gAAAAABm', 60)}sk-${fakeSecret('', 60)}`,
      'sk-learn-contrib-and-a-long-kebab-case-name-of-a-package',
      'risk-assessment-2024-09-01-final-version-with-comments',
      'hf_hub_download(repo_id)',
      'sk-ant-api03-...',
    ],
  }),
  token({
    id: 'vendor-key',
    sentence:
      'Keys of Stripe, SendGrid, npm, PyPI, DigitalOcean, Shopify, Databricks and HashiCorp Vault by their prefixes.',
    prefix: '[srp]k_(?:live|test)_|whsec_|SG\\.|npm_|pypi-AgEI|dop_v1_|shp(?:at|ca|pa|ss)_|dapi(?=[0-9a-f]{8})|hvs\\.',
    chars: /[A-Za-z0-9._-]+/y,
    body: 24,
    hits: [
      hit(fakeSecret('sk_live_', 24)),
      hit(fakeSecret('SG.', 66)),
      hit(fakeSecret('npm_', 36)),
      hit(fakeSecret('dapi', 32, '0123456789abcdef')),
    ],
    misses: ['npm_config_registry', 'pk_test_yours', 'SG.Api', 'dapi.example.com'],
  }),
  {
    id: 'jwt',
    sentence: 'JSON web tokens: three base64url parts, the first two of which are JSON objects.',
    pattern: new RegExp(`${START}eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_.-]*`, 'g'),
    wraps: /[A-Za-z0-9_.-]+/y,
    isSecret: (secret) => /^[\w-]+\.[\w-]{8,}\.[\w-]{16,}$/.test(secret),
    hits: [hit(jwt()), hit(jwt(), 'Cookie: session=', ';')],
    misses: ['eyJhbGciOiJIUzI1NiJ9', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0', `cipher ${fakeSecret('', 40)}${jwt()}`],
  },
]
