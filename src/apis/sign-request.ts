import { createHash, createHmac } from 'node:crypto';
import type { SpooledBody } from '../core/memory/spooled-body.ts';

export interface SignatureKey {
  readonly id: string;
  readonly secret: string;
}

/** A name of RFC 9421 (`@method`) or of a header, and its value as it is sent. */
export type SignedComponent = readonly [name: string, value: string];

export interface RequestToSign {
  readonly method: string;
  readonly url: URL;
  readonly body: SpooledBody | undefined;
}

const LABEL = 'sig1';

/**
 * Headers that sign a request with HMAC-SHA-256 (RFC 9421, 3.3.3): its method, authority, path and
 * query, and by `content-digest` (RFC 9530) its body. As a flat name, value list.
 *
 * @param created seconds since epoch
 */
export async function signatureHeaders(
  { method, url, body }: RequestToSign,
  key: SignatureKey,
  created: number,
): Promise<string[]> {
  const digest = body && `sha-256=:${await digestOf(body)}:`;
  const components: SignedComponent[] = [
    ['@method', method],
    ['@authority', url.host],
    ['@path', url.pathname],
    ['@query', url.search || '?'],
    ...(digest ? [['content-digest', digest] as const] : []),
  ];
  const params = `;created=${created};keyid=${JSON.stringify(key.id)};alg="hmac-sha256"`;
  const { input, signature } = sign(components, params, key.secret);
  return [
    ...(digest ? ['content-digest', digest] : []),
    'signature-input',
    `${LABEL}=${input}`,
    'signature',
    `${LABEL}=:${signature}:`,
  ];
}

/** The covered components with their parameters, and the signature in base64 (RFC 9421, 2.5). */
export function sign(
  components: readonly SignedComponent[],
  params: string,
  secret: string | Uint8Array,
): { input: string; signature: string } {
  const input = `(${components.map(([name]) => `"${name}"`).join(' ')})${params}`;
  const lines = components.map(([name, value]) => `"${name}": ${value}`);
  const base = [...lines, `"@signature-params": ${input}`].join('\n');
  return { input, signature: createHmac('sha256', secret).update(base).digest('base64') };
}

async function digestOf(body: SpooledBody): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of body.open()) hash.update(chunk);
  return hash.digest('base64');
}
