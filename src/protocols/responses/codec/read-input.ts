import type { Part, Turn } from '../../canonical.ts';
import { withoutOrphans } from '../../orphan-results.ts';
import { invalid, requireObject, requireText } from '../../json-fields.ts';
import { unsupported } from './fields.ts';
import type { Members } from '../../json-fields.ts';
import { readContent } from './read-content.ts';
import { readReasoningItem } from './reasoning-item.ts';

interface GrowingTurn {
  readonly role: Turn['role'];
  readonly parts: Part[];
}

const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'developer']);

/** Items that mean something to the provider alone that holds what they refer to. */
const STORED: ReadonlySet<string> = new Set(['item_reference', 'compaction', 'compaction_trigger']);

/**
 * The conversation of `input`. An answer's items are one turn of the assistant, the results that follow
 * them one of the tools.
 */
export function readInput(input: unknown, unmapped: Set<string>): Turn[] {
  if (typeof input === 'string') return [{ role: 'user', parts: [{ type: 'text', text: input }] }];
  if (!Array.isArray(input)) throw invalid('input', 'a string or an array');
  const turns: GrowingTurn[] = [];
  const results = new Map<Part, string>();
  input.forEach((one: unknown, index) => {
    const param = `input[${index}]`;
    readItem(requireObject(one, param), { param, unmapped, turns, results });
  });
  return withoutOrphans(turns, results, (path) => unmapped.add(path));
}

interface ItemPlace {
  param: string;
  unmapped: Set<string>;
  turns: GrowingTurn[];
  /** Takes where each result of a tool stands. */
  results: Map<Part, string>;
}

function readItem(item: Members, place: ItemPlace): void {
  const { param, turns } = place;
  const type = typeOf(item, param);
  if (STORED.has(type)) throw unsupported(param);
  if (type === 'message') readMessage(item, place);
  else if (type === 'function_call') append(turns, 'assistant', readCall(item, param));
  else if (type === 'function_call_output') append(turns, 'tool', readResult(item, place));
  else if (type === 'reasoning') append(turns, 'assistant', readReasoningItem(item, 'client'));
  else append(turns, 'assistant', { type: 'opaque', origin: 'responses', value: item });
}

/** Messages may leave their type out, and references theirs. */
function typeOf({ type, role, id }: Members, param: string): string {
  if (type !== undefined && type !== null) return requireText(type, `${param}.type`);
  return role === undefined && typeof id === 'string' ? 'item_reference' : 'message';
}

function readMessage(item: Members, { param, unmapped, turns }: ItemPlace): void {
  const role = requireText(item['role'], `${param}.role`);
  if (!ROLES.has(role)) throw invalid(`${param}.role`, 'user, assistant, system or developer');
  const parts = readContent(item['content'], { param: `${param}.content`, unmapped });
  const last = turns.at(-1);
  const goesOn = role === 'assistant' && last?.role === 'assistant' && !isSaid(last.parts.at(-1));
  if (goesOn) for (const part of parts) last.parts.push(part);
  else turns.push({ role: role as Turn['role'], parts });
}

/** A message behind a message begins another turn. */
function isSaid(part: Part | undefined): boolean {
  return part === undefined || part.type === 'text' || part.type === 'refusal';
}

function append(turns: GrowingTurn[], role: Turn['role'], part: Part): void {
  const last = turns.at(-1);
  if (last?.role === role) last.parts.push(part);
  else turns.push({ role, parts: [part] });
}

function readCall(item: Members, param: string): Part {
  return {
    type: 'tool_call',
    id: requireText(item['call_id'], `${param}.call_id`),
    name: requireText(item['name'], `${param}.name`),
    arguments: requireText(item['arguments'], `${param}.arguments`),
  };
}

function readResult(item: Members, { param, unmapped, results }: ItemPlace): Part {
  const content = readContent(item['output'], { param: `${param}.output`, unmapped });
  const result: Part = {
    type: 'tool_result',
    callId: requireText(item['call_id'], `${param}.call_id`),
    content: content.filter(
      (part) => part.type === 'text' || part.type === 'image' || part.type === 'document',
    ),
    isError: false,
  };
  results.set(result, `${param}.${String(item['type'])}`);
  return result;
}
