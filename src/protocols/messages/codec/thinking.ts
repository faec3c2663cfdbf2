import { parseJsonObject } from '../../../core/json/value.ts';
import type { ReasoningPart, Signature } from '../../canonical/canonical.ts';
import { fromSignatureText, isSignedBy, toSignatureText } from '../../canonical/reasoning-token.ts';
import { readText } from './members.ts';
import type { Members } from './members.ts';

/**
 * Thinking and canonical reasoning. The value of a signature is the text of `signature`, or for
 * redacted thinking `{"redacted": data}`. Towards clients a signature of another protocol is a
 * token in `signature`; one that belongs to the next part, in the `data` of redacted thinking.
 */
const OWN = 'messages';
const REDACTED = '{"redacted":';

/**
 * Writer of the block: clients hand back tokens; whatever providers sign is their own, whatever it
 * looks like.
 */
export type Writer = 'client' | 'provider';

export function fromThinking(block: Members, path: string, writer: Writer): ReasoningPart {
  const text = readText(block, 'thinking', path);
  const signed = block['signature'];
  const signature = typeof signed === 'string' ? toSignature(signed, writer) : undefined;
  return { type: 'reasoning', text, ...(signature && { signature }) };
}

export function fromRedacted(block: Members, path: string, writer: Writer): ReasoningPart {
  const data = readText(block, 'data', path);
  const signature = toSignature(data, writer);
  if (signature && signature.origin !== OWN)
    return { type: 'reasoning', text: '', signature, ofNext: true };
  const value = JSON.stringify({ redacted: data });
  return { type: 'reasoning', text: '', signature: { origin: OWN, value } };
}

/** Undefined for reasoning that this protocol's providers did not sign: they would refuse it. */
export function toProviderThinking({ text, signature }: ReasoningPart): Members | undefined {
  if (!isSignedBy(signature, OWN)) return undefined;
  return redactedBlock(signature) ?? thinkingBlock(text, signature.value);
}

/** Undefined when there is nothing to show and nothing to hand back. */
export function toClientThinking(part: ReasoningPart): Members | undefined {
  const { text, signature, ofNext } = part;
  if (!signature) return text === '' ? undefined : thinkingBlock(text, '');
  const own = redactedBlock(signature);
  if (own) return own;
  const token = toSignatureText(signature, OWN);
  return ofNext && text === '' && signature.origin !== OWN
    ? { type: 'redacted_thinking', data: token }
    : thinkingBlock(text, token);
}

function toSignature(text: string, writer: Writer): Signature | undefined {
  if (text === '') return undefined;
  return writer === 'client' ? fromSignatureText(text, OWN) : { origin: OWN, value: text };
}

function redactedBlock({ origin, value }: Signature): Members | undefined {
  if (origin !== OWN || !value.startsWith(REDACTED)) return undefined;
  const data = parseJsonObject(value)?.['redacted'];
  return typeof data === 'string' ? { type: 'redacted_thinking', data } : undefined;
}

function thinkingBlock(thinking: string, signature: string): Members {
  return { type: 'thinking', thinking, signature };
}
