import { isJsonObject } from '../../../core/json/value.ts';

/** The texts of a message or delta; some servers give lists of parts, reasoning among them. */
export function readAnswerContent(content: unknown): { text: string; reasoning: string } {
  if (typeof content === 'string') return { text: content, reasoning: '' };
  if (!Array.isArray(content)) return { text: '', reasoning: '' };
  const parts = content.filter(isJsonObject);
  return {
    text: parts.map(({ text }) => textOf(text)).join(''),
    reasoning: parts.map(({ thinking }) => thoughtOf(thinking)).join(''),
  };
}

function thoughtOf(thinking: unknown): string {
  return Array.isArray(thinking)
    ? thinking
        .filter(isJsonObject)
        .map(({ text }) => textOf(text))
        .join('')
    : textOf(thinking);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
