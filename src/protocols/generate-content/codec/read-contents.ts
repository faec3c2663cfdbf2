import { collectSteps, eachInSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import { RawJson } from '../../../core/json/raw.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type { Part, Turn } from '../../canonical/canonical.ts';
import { withoutOrphans } from '../../canonical/orphan-results.ts';
import { expectKind, refused } from '../check-fields.ts';
import { fieldOf, listOf, membersOf, textOf } from '../fields.ts';
import type { Members } from '../fields.ts';
import { CallIds } from './call-ids.ts';
import { joinParts } from './join-parts.ts';
import { readPart } from './read-part.ts';

const FOREIGN = { tool_result: 'functionResponse', tool_call: 'functionCall' } as const;

/**
 * The turns of a conversation. Neighbouring contents of the model are one turn: clients keep each
 * piece of a stream as a content; responses of functions come before other parts of the user.
 *
 * @param unmapped takes the names of members that no other protocol has
 * @throws GatewayError `invalid_request` with the path of an invalid content
 */
export function* readContents(contents: readonly Members[], unmapped: Set<string>): Steps<Turn[]> {
  const ids = new CallIds(takenIds(contents));
  const results = new Map<Part, string>();
  const turns: GrowingTurn[] = [];
  yield* eachInSteps(contents, (content, index) => {
    const path = `contents[${index}]`;
    const parts = readParts(content, { path, ids, results });
    const last = turns.at(-1);
    const isOfModel = isModel(content, path);
    const foreign = isOfModel ? 'tool_result' : 'tool_call';
    if (parts.some(({ type }) => type === foreign))
      throw refused(`${path}.role`, `cannot be that of a ${FOREIGN[foreign]}`);
    if (!isOfModel) turns.push(...toUserTurns(parts));
    else if (last?.role === 'assistant') for (const part of parts) last.parts.push(part);
    else if (parts.length > 0) turns.push({ role: 'assistant', parts });
  });
  const answered = yield* withoutOrphans(turns, results, (path) => unmapped.add(path));
  return yield* collectSteps(answered, ({ role, parts }) => [
    { role, parts: role === 'assistant' ? joinParts(parts) : parts },
  ]);
}

interface GrowingTurn extends Turn {
  readonly parts: Part[];
}

/** The texts of `systemInstruction`, as a turn of their own. */
export function readSystem(body: Members, unmapped: Set<string>): Turn[] {
  const system = membersOf(body, 'systemInstruction');
  expectKind(system['parts'], 'list', 'systemInstruction.parts');
  const ids = new CallIds(new Set());
  const all = readParts(system, { path: 'systemInstruction', ids });
  const parts = all.filter(({ type }) => type === 'text');
  if (parts.length < all.length) unmapped.add('systemInstruction.parts');
  return parts.length > 0 ? [{ role: 'system', parts }] : [];
}

interface Reading {
  path: string;
  ids: CallIds;
  /** Takes the path of each response of a function. */
  results?: Map<Part, string>;
}

function readParts(content: Members, { path, ids, results }: Reading): Part[] {
  return listOf(content, 'parts').flatMap((part, index) => {
    checkPart(part, `${path}.parts[${index}]`);
    const read = readPart(part, ids).filter(({ type }) => type !== 'opaque');
    for (const one of read)
      if (one.type === 'tool_result') results?.set(one, `${path}.parts[${index}].functionResponse`);
    return read;
  });
}

function toUserTurns(parts: readonly Part[]): GrowingTurn[] {
  const results = parts.filter(({ type }) => type === 'tool_result');
  const rest = parts.filter(({ type }) => type !== 'tool_result' && type !== 'reasoning');
  const turns: GrowingTurn[] = [];
  if (results.length > 0) turns.push({ role: 'tool', parts: results });
  if (rest.length > 0) turns.push({ role: 'user', parts: rest });
  return turns;
}

function isModel({ role }: Members, path: string): boolean {
  if (role === 'model') return true;
  // The first one is the default, the last one what earlier versions called a response.
  if (role === undefined || role === null || role === '' || role === 'user' || role === 'function')
    return false;
  throw refused(`${path}.role`, 'must be `user` or `model`');
}

function checkPart(part: Members, path: string): void {
  expectKind(part['text'], 'string', `${path}.text`);
  expectKind(fieldOf(part, 'thoughtSignature'), 'string', `${path}.thoughtSignature`);
  for (const name of ['functionCall', 'functionResponse', 'inlineData', 'fileData'])
    expectKind(fieldOf(part, name), 'object', `${path}.${name}`);
  const call = membersOf(part, 'functionCall');
  const response = membersOf(part, 'functionResponse');
  expectRawObject(call['args'], `${path}.functionCall.args`);
  expectRawObject(response['response'], `${path}.functionResponse.response`);
  if (fieldOf(part, 'functionCall')) expectName(call, `${path}.functionCall`);
  if (fieldOf(part, 'functionResponse')) expectName(response, `${path}.functionResponse`);
  if (fieldOf(part, 'inlineData')) expectText(part, 'inlineData', { path, of: 'mimeType' });
  if (fieldOf(part, 'fileData')) expectText(part, 'fileData', { path, of: 'fileUri' });
}

function expectName(object: Members, path: string): void {
  if (!textOf(object, 'name')) throw refused(`${path}.name`, 'is required');
}

function expectText(part: Members, name: string, { path, of }: { path: string; of: string }): void {
  if (!textOf(membersOf(part, name), of)) throw refused(`${path}.${name}.${of}`, 'is required');
}

/** @throws GatewayError `invalid_request` for an array or a scalar */
function expectRawObject(value: unknown, path: string): void {
  const isArray = value instanceof RawJson && value.text.startsWith('[');
  if (!isArray && (value === undefined || value === null || isJsonObject(value))) return;
  throw refused(path, 'must be an object');
}

function takenIds(contents: readonly Members[]): Set<string> {
  const taken = new Set<string>();
  for (const content of contents)
    for (const part of listOf(content, 'parts'))
      for (const name of ['functionCall', 'functionResponse']) {
        const id = textOf(membersOf(part, name), 'id');
        if (id) taken.add(id);
      }
  return taken;
}
