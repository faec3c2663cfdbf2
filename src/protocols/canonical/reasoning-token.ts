import { Buffer } from 'node:buffer';
import { PROTOCOL_IDS } from '../registry.ts';
import type { Protocol } from '../registry.ts';
import { isJson } from '../../core/json/scan-text.ts';
import type { Signature } from './canonical.ts';

/** Every token begins with the base64 of these bytes. */
const HEAD = 'GWR1["';
/** The JSON array begins after the letters. */
const JSON_START = 4;
/** Beginning of the text of every token. */
export const TOKEN_MARK = Buffer.from(HEAD).toString('base64');

/**
 * The text of a signature in a client's protocol: the protocol's own as it is, another's
 * in base64 with its origin, so that it comes back to the provider that made it and to no other.
 */
export function toSignatureText({ origin, value, reader }: Signature, own: Protocol): string {
  if (origin === own && !value.startsWith(TOKEN_MARK)) return value;
  const told = reader === undefined ? [origin, value] : [origin, value, reader];
  return Buffer.from(`GWR1${JSON.stringify(told)}`).toString('base64');
}

/** Reads a text that {@link toSignatureText} wrote; any other text is the protocol's own. */
export function fromSignatureText(text: string, own: Protocol): Signature {
  return readToken(text) ?? { origin: own, value: text };
}

/** Placeholder signature of unsigned reasoning, by which later providers see its origin. */
export function unsigned(origin: Protocol): Signature {
  return { origin, value: '' };
}

/** A provider of the protocol signed it. */
export function isSignedBy(
  signature: Signature | undefined,
  protocol: Protocol,
): signature is Signature {
  return signature?.origin === protocol && signature.value !== '';
}

/** The text is a token for a signature by a provider of another protocol. */
export function isForeignToken(text: unknown, own: Protocol): boolean {
  return typeof text === 'string' && fromSignatureText(text, own).origin !== own;
}

function readToken(text: string): Signature | undefined {
  if (!text.startsWith(TOKEN_MARK)) return undefined;
  const json = Buffer.from(text, 'base64').subarray(JSON_START);
  // A request may hold very many other texts, and the parser is slow to refuse one.
  if (!isJson(json)) return undefined;
  const [origin, value, reader] = JSON.parse(json.toString('utf8')) as [Protocol, unknown, unknown];
  if (!PROTOCOL_IDS.includes(origin) || typeof value !== 'string') return undefined;
  return { origin, value, ...(typeof reader === 'string' ? { reader } : {}) };
}
