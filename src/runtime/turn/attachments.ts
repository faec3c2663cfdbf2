import { isJsonObject } from '../../core/json/value.ts';
import type { Part } from '../../protocols/canonical/canonical.ts';
import type { AnswerPart, Entry } from './conversation.ts';
import type { Block } from './attached-files.ts';

const BINARY: ReadonlySet<unknown> = new Set(['base64', 'data', 'url', 'file']);

/** Words in place of a refused attachment, in an event and in the canonical form. */
const REFUSED = {
  type: 'text',
  text: '(An attachment is left out: the request with it was refused.)',
} as const;

/** True for an image, or a document that is no text, in an event or in the canonical form. */
export function isAttachment(value: unknown): value is Block {
  if (!isJsonObject(value) || !isJsonObject(value['source'])) return false;
  const { type, source } = value;
  return type === 'image' || (type === 'document' && BINARY.has(source['type']));
}

/** True for an input, or an answer with results, that holds an attachment. */
export function hasAttachments(entry: Entry): boolean {
  return entry.type === 'input'
    ? contentOf(entry).some(isAttachment)
    : entry.parts.some((part) => part.type === 'use' && part.use.result?.content.some(isAttached));
}

/** The same with words in the place of its attachments. */
export function withoutAttachments(entry: Entry): Entry {
  if (entry.type === 'answer') return { type: 'answer', parts: entry.parts.map(withWords) };
  const content = contentOf(entry).map((block) => (isAttachment(block) ? REFUSED : block));
  return { type: 'input', event: { ...entry.event, content } };
}

function withWords(part: AnswerPart): AnswerPart {
  if (part.type !== 'use' || !part.use.result) return part;
  const { content, isError } = part.use.result;
  const told = content.map((one) => (isAttached(one) ? REFUSED : one));
  return { type: 'use', use: { ...part.use, result: { content: told, isError } } };
}

/** A block without a canonical form is carried as it is. */
function isAttached(part: Part): boolean {
  return isAttachment(part.type === 'opaque' ? part.value : part);
}

function contentOf({ event: { content } }: Extract<Entry, { type: 'input' }>): unknown[] {
  return Array.isArray(content) ? content : [];
}
