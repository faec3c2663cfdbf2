import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

const PREFIX = 'whsec_';
/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;

/** `whsec_` and base64, as every verifier of Standard Webhooks takes it. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export interface SignedMessage {
  /** The same on every attempt; receivers know a message by it. */
  readonly id: string;
  /** Milliseconds since epoch: of the attempt, because old signatures are refused. */
  readonly at: number;
  readonly body: string;
}

/** The headers of one attempt (Standard Webhooks 1.0): a signature by each of the secrets. */
export function signatureHeaders(
  { id, at, body }: SignedMessage,
  secrets: readonly string[],
): Record<string, string> {
  const sent = new Date(at);
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, sent, body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}
