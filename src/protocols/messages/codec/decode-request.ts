import { collectSteps, eachInSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import { parseSteps } from '../../../core/json/parse-steps.ts';
import type { CanonicalRequest, Part, Turn } from '../../canonical/canonical.ts';
import { storedFile } from '../../media/stored-file.ts';
import { withoutOrphans } from '../../canonical/orphan-results.ts';
import type { RequestPeek } from '../../protocol.ts';
import { fromContent } from './from-block.ts';
import type { Place } from './from-block.ts';
import { fromSettings } from './from-settings.ts';
import { fromTools } from './from-tools.ts';
import { unreadMembers } from '../../canonical/unread-members.ts';
import { readList, readObject } from './members.ts';
import { MESSAGES_REQUEST } from './request-shape.ts';

/** Reads a request that `peekMessages` let through (contract: Messages protocol). */
export function* decodeMessagesRequest(peek: RequestPeek): Steps<CanonicalRequest> {
  const { json, stream } = peek;
  const { value } = json;
  const unmapped = new Set(yield* unreadMembers(value, MESSAGES_REQUEST));
  const place = (path: string): Place => ({ path, writer: 'client', unmapped });
  const results = new Map<Part, string>();
  const messages = readList(yield* messagesOf(peek), 'messages');
  const said = yield* collectSteps(messages, (message, index) =>
    toTurns(message, place(`messages[${index}]`), results),
  );
  yield* refuseFiles(said);
  const turns = yield* withoutOrphans(said, results, (path) => unmapped.add(path));
  const system = value['system'];
  if (system !== undefined)
    turns.unshift({ role: 'system', parts: fromContent(system, place('system')) });
  return {
    turns,
    ...fromTools(value, unmapped),
    ...fromSettings(value, unmapped),
    stream,
    unmapped: [...unmapped],
  };
}

/** The conversation with the arguments of calls as they are written. */
function* messagesOf({ body, json }: RequestPeek): Steps<unknown> {
  const member = json.find('messages');
  if (!member) return undefined;
  return yield* parseSteps(body.subarray(member.valueStart, member.valueEnd), { keep: ['input'] });
}

/** Throws `unsupported_feature` for a file that was uploaded to another vendor. */
function* refuseFiles(turns: readonly Turn[]): Steps<void> {
  const check = (part: Part): void => {
    if (part.type === 'tool_result') part.content.forEach(check);
    if (part.type !== 'opaque' || !isJsonObject(part.value)) return;
    const { source } = part.value;
    if (!isJsonObject(source) || source['type'] !== 'file') return;
    const place = (part.path ?? '').replace(/\.\w+$/, '');
    throw storedFile(`${place}.source.file_id`);
  };
  yield* eachInSteps(turns, ({ parts }) => parts.forEach(check));
}

/** Results of tools are in messages of the user; they become turns of their own. */
function toTurns(message: unknown, place: Place, results: Map<Part, string>): Turn[] {
  const { role, content } = readObject(message, place.path);
  const own = role === 'assistant' || role === 'system' ? role : 'user';
  const parts = fromContent(content, { ...place, path: `${place.path}.content` });
  const turns: { role: Turn['role']; parts: Part[] }[] = [];
  for (const [index, part] of parts.entries()) {
    const isResult = part.type === 'tool_result';
    if (isResult) results.set(part, `${place.path}.content[${index}].tool_result`);
    const wanted = isResult ? 'tool' : own;
    const last = turns.at(-1);
    if (last?.role === wanted) last.parts.push(part);
    else turns.push({ role: wanted, parts: [part] });
  }
  return turns;
}
