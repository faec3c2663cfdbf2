import { stringifyWithRaw } from '../../core/json/raw.ts';
import type { Part } from '../../protocols/canonical/canonical.ts';
import type { AnswerPart, Entry } from '../turn/conversation.ts';
import { readContent } from '../turn/conversation.ts';

/** Something that was said before, as text. */
export interface HistoryItem {
  readonly role: 'user' | 'system' | 'agent' | 'tool';
  readonly text: string;
}

/** Characters of all; a longer conversation is cut to its end. */
const MAX_CHARS = 256 * 1024;

/** The conversation so far, for a process that has not heard it. */
export function toHistory(entries: readonly Entry[]): HistoryItem[] {
  const items: HistoryItem[] = [];
  let room = MAX_CHARS;
  for (const entry of entries.toReversed()) {
    for (const item of toItems(entry).toReversed()) {
      room -= item.text.length;
      if (room < 0) return items.toReversed();
      items.push(item);
    }
  }
  return items.toReversed();
}

/** The same as one text. */
export function toTranscript(history: readonly HistoryItem[]): string {
  const lines = history.map(({ role, text }) => `[${role}]\n${text}`);
  return `This is the conversation so far; go on from here.\n\n${lines.join('\n\n')}`;
}

function toItems(entry: Entry): HistoryItem[] {
  if (entry.type === 'answer') return entry.parts.flatMap(toAnswerItem);
  const { type, content } = entry.event;
  const role = type === 'system.message' ? 'system' : 'user';
  return [{ role, text: readContent(content).map(toText).join('\n') }];
}

function toAnswerItem(part: AnswerPart): HistoryItem[] {
  if (part.type === 'text') return [{ role: 'agent', text: part.text }];
  if (part.type !== 'use') return [];
  const { name, input, result } = part.use;
  const outcome = (result?.content ?? []).map(toText).join('\n');
  return [{ role: 'tool', text: `${name} ${stringifyWithRaw(input)}\n${outcome}` }];
}

function toText(part: Part): string {
  return part.type === 'text' ? part.text : `(${part.type})`;
}
