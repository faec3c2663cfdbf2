import { isJsonObject, parseJsonObject } from '../../../core/json/value.ts';
import type { ReasoningPart, Signature } from '../../canonical/canonical.ts';
import { fromSignatureText, toSignatureText } from '../../canonical/reasoning-token.ts';
import type { Members } from '../../json-fields.ts';

/**
 * Reasoning in chat messages: its text in `reasoning_content` (some providers say `reasoning`, or have
 * parts of the content for it) and,
 * where it is signed, entry by entry in `reasoning_details`, whose public shape is OpenRouter's.
 * A provider's entry without its text is the value of the signature; for reasoning that came without entries
 * it is `{}`, or the name of its other member: so each returns to its provider unchanged.
 */
export type ReasoningDetail = Record<string, unknown>;

/** The signature of reasoning that has only a text. */
export const PLAIN_SIGNATURE: Signature = { origin: 'chat', value: '{}' };

/** The id by which a signature says that it belongs to the message's text. */
export const OF_CONTENT = 'content';

/** A message's or delta's entries; empty when it has none. */
export function detailsOf(message: Members): readonly ReasoningDetail[] {
  const details = message['reasoning_details'];
  return Array.isArray(details) ? details.filter(isJsonObject) : [];
}

const OTHER_MEMBER = 'reasoning';
const OF_OTHER_MEMBER = signatureOfMember(OTHER_MEMBER);
/** The signature of reasoning that is a part of the content. */
export const CONTENT_SIGNATURE = signatureOfMember('content');

function signatureOfMember(member: string): Signature {
  return { origin: 'chat', value: JSON.stringify(member) };
}

/** Returns the reasoning of a message or delta as plain text; servers that write every member leave one empty. */
export function plainReasoningOf(message: Members): { text: string; signature: Signature } {
  const { reasoning_content: text, [OTHER_MEMBER]: other } = message;
  if (typeof text === 'string' && text !== '') return { text, signature: PLAIN_SIGNATURE };
  return { text: typeof other === 'string' ? other : '', signature: OF_OTHER_MEMBER };
}

/** The member that plain reasoning came in. */
export function plainMember(signature: Signature | undefined): string {
  if (signature?.value === CONTENT_SIGNATURE.value) return 'content';
  return signature?.value === OF_OTHER_MEMBER.value ? OTHER_MEMBER : 'reasoning_content';
}

/** The member in which a kind of entry has its text; undefined: it has none. */
function textMember(type: unknown): 'text' | 'summary' | undefined {
  if (type === 'reasoning.summary') return 'summary';
  return type === 'reasoning.encrypted' ? undefined : 'text';
}

export function detailText(detail: ReasoningDetail): string {
  const member = textMember(detail['type']);
  const text = member && detail[member];
  return typeof text === 'string' ? text : '';
}

/**
 * Returns the key that sets an entry apart from its neighbours; the pieces of one in a stream have
 * the same.
 */
export function detailKey({ type, index }: ReasoningDetail): string {
  return `${String(type)} ${typeof index === 'number' ? index : ''}`;
}

/** The signature that an entry of a provider is kept by. */
export function signatureOf(detail: ReasoningDetail): Signature {
  const member = textMember(detail['type']);
  const rest = Object.entries(detail).filter(
    ([name, value]) => name !== member && value !== null && value !== undefined,
  );
  const isPlain = rest.every(
    ([name, value]) => name === 'index' || (name === 'type' && value === 'reasoning.text'),
  );
  return isPlain
    ? PLAIN_SIGNATURE
    : { origin: 'chat', value: JSON.stringify(Object.fromEntries(rest)) };
}

/** The entry that a provider gave; undefined when there was none, or for any other value. */
export function restoreDetail(text: string, { value }: Signature): ReasoningDetail | undefined {
  const rest = parseJsonObject(value);
  if (!rest || Object.keys(rest).length === 0) return undefined;
  const member = textMember(rest['type']);
  return member ? { ...rest, [member]: text } : rest;
}

/** Index of an entry and the part that it belongs to. */
export interface DetailPlace {
  index: number;
  /** The tool call, or {@link OF_CONTENT}, whose signature it is. */
  of?: string | undefined;
}

/** The entry by which a client is shown a signature; `text` is empty where it was sent before. */
export function signedDetail(
  { signature, text }: { signature: Signature; text: string | undefined },
  { index, of }: DetailPlace,
): ReasoningDetail {
  if (signature.origin === 'chat') {
    const restored = restoreDetail(text ?? '', signature);
    if (restored) return { ...restored, index: restored['index'] ?? index };
    return { type: 'reasoning.text', text: text ?? '', index };
  }
  const token = toSignatureText(signature, 'chat');
  const place = { ...(of !== undefined && { id: of }), format: signature.origin, index };
  return text === undefined
    ? { type: 'reasoning.encrypted', data: token, ...place }
    : { type: 'reasoning.text', text, signature: token, ...place };
}

/** Reasoning that a client sends back or a provider answers. */
export interface ReadReasoning {
  part: ReasoningPart;
  /** The id of the tool call, or {@link OF_CONTENT}, that the signature belongs to. */
  of?: string | undefined;
}

/** @param tokens the texts of other protocols' signatures are meant, as in a client's request */
export function readReasoning(message: Members, tokens: boolean): ReadReasoning[] {
  const details = detailsOf(message);
  if (details.length === 0) {
    const { text, signature } = plainReasoningOf(message);
    return text === '' ? [] : [{ part: { type: 'reasoning', text, signature } }];
  }
  return details.map((detail) => {
    const text = detailText(detail);
    const foreign = tokens ? foreignSignature(detail) : undefined;
    if (!foreign) return { part: { type: 'reasoning', text, signature: signatureOf(detail) } };
    const id = detail['id'];
    const of = typeof id === 'string' ? id : undefined;
    return { part: { type: 'reasoning', text, signature: foreign }, of };
  });
}

function foreignSignature({ signature, data }: ReasoningDetail): Signature | undefined {
  const text = signature ?? data;
  if (typeof text !== 'string') return undefined;
  const read = fromSignatureText(text, 'chat');
  return read.origin === 'chat' ? undefined : read;
}
