import { eachInSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import type { Part, Turn } from '../../canonical/canonical.ts';
import { DECLARING_ITEMS } from '../../canonical/call-forms.ts';
import { withoutOrphans } from '../../canonical/orphan-results.ts';
import { invalid, readList, requireObject, requireText } from '../../json-fields.ts';
import { unsupported } from './fields.ts';
import type { Members } from '../../json-fields.ts';
import { readContent } from './read-content.ts';
import { hasSecondText, readReasoningItem } from './reasoning-item.ts';
import { tellItem } from './server-items.ts';

interface GrowingTurn {
  readonly role: Turn['role'];
  readonly parts: Part[];
}

const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'developer']);

const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call']);
const RESULTS: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output']);

/** Items that mean something only to the provider that keeps their state. */
const STORED: ReadonlySet<string> = new Set(['item_reference', 'compaction', 'compaction_trigger']);

interface Input {
  readonly turns: readonly Turn[];
  /** Tools that items declare, with their paths. */
  readonly tools: readonly (readonly [tool: unknown, param: string])[];
  /** The last change of the settings of the answer; empty for none. */
  readonly settings: Members;
}

/**
 * The conversation of `input`. An answer's items are one turn of the assistant, the results that follow
 * them one of the tools.
 */
export function* readInput(input: unknown, unmapped: Set<string>): Steps<Input> {
  if (typeof input === 'string') {
    const said: Turn = { role: 'user', parts: [{ type: 'text', text: input }] };
    return { turns: [said], tools: [], settings: {} };
  }
  if (!Array.isArray(input)) throw invalid('input', 'a string or an array');
  const turns: GrowingTurn[] = [];
  const results = new Map<Part, string>();
  const told = new Map<Turn | undefined, number | undefined>();
  const tools: [unknown, string][] = [];
  let settings: Members = {};
  yield* eachInSteps(input as readonly unknown[], (one, index) => {
    const param = `input[${index}]`;
    const item = requireObject(one, param);
    const { type } = item;
    if (DECLARING_ITEMS.has(type))
      (readList(item['tools'], `${param}.tools`) ?? []).forEach((tool, at) =>
        tools.push([tool, `${param}.tools[${at}]`]),
      );
    else if (type === 'configuration_update') settings = { ...settings, ...item };
    else readItem(item, { param, unmapped, turns, results, told });
  });
  const whole = yield* withoutOrphans(turns, results, (path) => unmapped.add(path));
  return { turns: whole, tools, settings };
}

interface ItemPlace {
  param: string;
  unmapped: Set<string>;
  turns: GrowingTurn[];
  /** Receives the position of each result of a tool. */
  results: Map<Part, string>;
  /** Turns from items that no other protocol has; those of the user with the index where their row begins. */
  told: Map<Turn | undefined, number | undefined>;
}

function readItem(item: Members, place: ItemPlace): void {
  const { param, turns, told } = place;
  const type = typeOf(item, param);
  if (STORED.has(type)) throw unsupported(param);
  if (type === 'message') readMessage(item, place);
  else if (CALLS.has(type)) append(turns, 'assistant', readCall(item, param));
  else if (RESULTS.has(type)) addResult(readResult(item, place), place);
  else if (type === 'reasoning') {
    if (hasSecondText(item)) place.unmapped.add(`${param}.content`);
    const part = readReasoningItem(item, 'client');
    // Else the message after it would run into the text of the item.
    if (told.has(turns.at(-1))) turns.push({ role: 'assistant', parts: [part] });
    else append(turns, 'assistant', part);
  }
  // The list of the tools of a server is only for its provider.
  else if (type === 'mcp_list_tools') place.unmapped.add(`${param}.${type}`);
  else addTold(tellItem(item, place), place);
}

function addTold(turn: Turn, { turns, told }: ItemPlace): void {
  const begin = told.get(turns.at(-1)) ?? turns.length;
  const added = { role: turn.role, parts: [...turn.parts] };
  turns.push(added);
  told.set(added, turn.role === 'user' ? begin : undefined);
}

/** Results follow their calls; texts of other tools between them come after. */
function addResult(part: Part, { turns, told }: ItemPlace): void {
  const last = turns.at(-1);
  const at = told.get(last) ?? turns.length;
  const before = turns[at - 1];
  if (before?.role === 'tool') {
    before.parts.push(part);
    return;
  }
  turns.splice(at, 0, { role: 'tool', parts: [part] });
  if (told.get(last) !== undefined) told.set(last, at + 1);
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

/** A message after a message begins another turn. */
function isSaid(part: Part | undefined): boolean {
  return part === undefined || part.type === 'text' || part.type === 'refusal';
}

function append(turns: GrowingTurn[], role: Turn['role'], part: Part): void {
  const last = turns.at(-1);
  if (last?.role === role) last.parts.push(part);
  else turns.push({ role, parts: [part] });
}

function readCall(item: Members, param: string): Part {
  const isCustom = item['type'] === 'custom_tool_call';
  const text = isCustom ? 'input' : 'arguments';
  return {
    type: 'tool_call',
    id: requireText(item['call_id'], `${param}.call_id`),
    name: requireText(item['name'], `${param}.name`),
    arguments: requireText(item[text], `${param}.${text}`),
    ...(isCustom && { custom: true }),
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
