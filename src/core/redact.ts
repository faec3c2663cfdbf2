import { percentEncode } from './printable.ts';

const MASK = '[redacted]';
/**
 * Most characters that are searched for secrets, and most of the rest for patterns; keeps both
 * cheap.
 */
const MAX_RAW = 65_536;
const MAX_INPUT = 4096;
/** Longer runs without a blank may be cut. */
const MAX_TOKEN = 2048;
const MAX_PUBLIC_MESSAGE = 2000;
/** Shorter secrets would mask ordinary words. */
const MIN_SECRET = 6;

/** Replaces every occurrence of the secrets, also percent-encoded or JSON-escaped. */
export function redactSecrets(text: string, secrets: Iterable<string>): string {
  const spellings = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET) continue;
    spellings.add(secret).add(percentEncode(secret)).add(JSON.stringify(secret).slice(1, -1));
  }
  let result = text;
  // Longest first: a secret may contain another one.
  for (const spelling of [...spellings].sort((a, b) => b.length - a.length)) {
    result = result.replaceAll(spelling, MASK);
  }
  return result;
}

const LONE_SURROGATE = /[\ud800-\udbff]$/;

/** Begin of a stack trace in a text. */
const STACK_START =
  /Traceback \(most recent call last\)|\bFile "[^"\n]*", line \d+|\bgoroutine \d+ \[|(?:^|\s)at \S[^\n]{0,200}?[(\s](?:\S+:\d+:\d+|[\w$]+\.(?:java|kt|scala):\d+\))|\n {0,8}\d+: 0x[0-9a-f]+/;

/**
 * Patterns of texts that must not leave the gateway, with their replacements; the order matters.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)\]}]+/gi, '[url]'],
  [/\b(bearer|basic)\s+[\w.~+/=*-]{6,}/gi, `$1 ${MASK}`],
  [/\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g, MASK],
  [
    /\b(?:sk|pk|rk|gsk|xai|hf|nvapi|pplx|r8|tgp|fw|csk|ghp|gho|glpat|key|api[_-]?key)[-_](?=[\w.…-]*[\d*])[\w*.…-]{6,}/gi,
    MASK,
  ],
  [/\b(?:AIza|AKIA|ASIA|ya29\.)[\w*.-]{8,}/g, MASK],
  [
    /\b(api[_ -]?key|token|secret|password|credential)(["']?\s*[:=]\s*["']?)(?=[^\s"',;]*[\d*])[^\s"',;]{6,}/gi,
    `$1$2${MASK}`,
  ],
  [/(?<![\w*])[\w-]{0,12}\*{4,}[\w-]{0,12}/g, MASK],
  [/\barn:aws[\w:/.-]+/gi, '[account]'],
  [
    /\b(?:org|proj|user|acct|account|team|workspace)[-_](?=[a-z]*[\dA-Z])[A-Za-z0-9]{8,}\b/g,
    '[account]',
  ],
  [/\b(projects|organizations|accounts|subscriptions|workspaces)\/[\w.:-]+/gi, '$1/[account]'],
  [/(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[account]'],
  [/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ECONNRESET)\s+[\w.:[\]-]+/g, '$1'],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.]*\d)/g, '[host]'],
  [/(?<![\w:])\[?(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{0,4}\]?(?::\d+)?/gi, '[host]'],
  [
    /(?<![\w.-])(?:[a-z][\w-]*\.)*(?:localhost|[a-z][\w-]*)(?::(?:80|443|\d{4,5}))(?![\w.])/gi,
    '[host]',
  ],
  [
    /(?<![\w.-])(?:[a-z0-9_][\w-]*\.)+(?:com|net|org|io|ai|dev|app|cloud|co|cn|de|eu|fr|jp|uk|us|xyz|internal|intern|local|localhost|localdomain|svc|lan|corp|home|test|arpa)(?::\d+)?(?![\w-]|\.\w)/gi,
    '[host]',
  ],
  [/(?<![\w.])localhost\b/gi, '[host]'],
  [/(?<![\w.])[a-z]:\\[^\s"'<>|]+/gi, '[path]'],
  [/(?<![\w/])(?:~|\.{1,2})?\/(?!v\d)(?:[\w.@+-]+\/)+[\w.@+-]*(?::\d+)*/gi, '[path]'],
  [/(?<![\w/.-])[\w./-]*[\w-]\.(?:py|js|mjs|ts|go|rs|java|rb|php|cc|cpp)(?::\d+)+/g, '[path]'],
  [/\b[A-Za-z0-9+_]{40,}={0,2}/g, MASK],
];

/**
 * The part of a provider's error text that may be shown to a client: without the given secrets, and
 * without what looks like a key, token, account, host, URL, file path or stack trace. Control
 * characters become blanks. At most `maxChars` characters (default 2,000); may be empty.
 */
export function toPublicMessage(
  text: string,
  {
    secrets = [],
    maxChars = MAX_PUBLIC_MESSAGE,
  }: { secrets?: Iterable<string>; maxChars?: number } = {},
): string {
  let result = cutAtBlank(redactSecrets(cutAtBlank(text, MAX_RAW), secrets), MAX_INPUT);
  const stack = result.search(STACK_START);
  if (stack >= 0) result = result.slice(0, stack);
  for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement);
  // eslint-disable-next-line no-control-regex -- control characters are the target
  result = result.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim();
  return result.length <= maxChars
    ? result
    : `${result.slice(0, maxChars - 1).replace(LONE_SURROGATE, '')}…`;
}

/** A token that is cut in two would not be recognised any more. */
function cutAtBlank(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max);
  const blank = Math.max(cut.lastIndexOf(' '), cut.lastIndexOf('\n'));
  return cut.slice(0, max - blank > MAX_TOKEN ? max - MAX_TOKEN : blank);
}
