import { parseJsonObject } from '../../../core/json/value.ts';
import type { ReasoningPart, Signature } from '../../canonical/canonical.ts';
import { fromSignatureText, toSignatureText } from '../../canonical/reasoning-token.ts';
import { defined } from '../../json-fields.ts';
import { objectsOf, textOf } from './fields.ts';
import type { Members } from '../../json-fields.ts';
import { PROTOCOLS } from '../../registry.ts';

/**
 * Reasoning items and canonical reasoning. The value of a signature is the JSON of the item's `id` and
 * `encrypted_content`; towards clients the signature of another protocol is a token in
 * `encrypted_content`.
 */
const OWN = 'responses';

/** Writer of the item: clients hand back tokens; content that providers encrypt is their own. */
export type Writer = 'client' | 'provider';

export function readReasoningItem(item: Members, writer: Writer): ReasoningPart {
  const text = reasoningText(item);
  const signature = readSignature(item, writer);
  return {
    type: 'reasoning',
    text,
    ...(signature && { signature }),
    // A signature without reasoning of its own belongs, only there, to the next part.
    ...(text === '' &&
      signature?.value &&
      PROTOCOLS[signature.origin].signsNext && { ofNext: true }),
  };
}

/** The summary, else the reasoning itself. */
export function reasoningText({ summary, content }: Members): string {
  const texts = (list: unknown): string =>
    objectsOf(list)
      .map(({ text }) => textOf(text))
      .join('\n\n');
  return texts(summary) || texts(content);
}

/** True where a summary is read in place of reasoning that is also present. */
export function hasSecondText({ summary, content }: Members): boolean {
  return reasoningText({ summary }) !== '' && reasoningText({ content }) !== '';
}

export function readSignature(item: Members, writer: Writer): Signature | undefined {
  const { id, encrypted_content: content } = item;
  if (typeof content !== 'string' || content === '') return undefined;
  const signature: Signature =
    writer === 'client' ? fromSignatureText(content, OWN) : { origin: OWN, value: content };
  if (signature.origin !== OWN) return signature;
  const value = { ...(typeof id === 'string' && { id }), encrypted_content: signature.value };
  return { origin: OWN, value: JSON.stringify(value) };
}

/** Undefined for reasoning that no provider of Responses encrypted: it would be refused. */
export function toProviderReasoning({ text, signature }: ReasoningPart): object | undefined {
  if (signature?.origin !== OWN) return undefined;
  const { id, encrypted_content } = parseJsonObject(signature.value) ?? {};
  if (typeof encrypted_content !== 'string') return undefined;
  return { type: 'reasoning', ...defined({ id }), summary: toSummary(text), encrypted_content };
}

/** The id and the encrypted content by which a client is shown a signature. */
export function signedMembers(signature: Signature | undefined): {
  id?: string;
  encrypted_content?: string;
} {
  if (!signature) return {};
  const own = signature.origin === OWN ? parseJsonObject(signature.value) : undefined;
  const content = own?.['encrypted_content'];
  if (typeof content !== 'string') return { encrypted_content: toSignatureText(signature, OWN) };
  const id = own?.['id'];
  return {
    ...(typeof id === 'string' && { id }),
    encrypted_content: toSignatureText({ origin: OWN, value: content }, OWN),
  };
}

export function toSummary(text: string): object[] {
  return text === '' ? [] : [{ type: 'summary_text', text }];
}
