import { createHash } from 'node:crypto';
import { collectSteps, eachInSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { CanonicalRequest, Part, Turn } from '../canonical/canonical.ts';
import { otherId } from '../canonical/unique-ids.ts';
import { fitName, isFitting } from './name-bounds.ts';
import type { NameBounds, OwnNames } from './name-bounds.ts';

type Named = Pick<CanonicalRequest, 'turns' | 'tools' | 'toolChoice' | 'output'>;

const PREFIX = 'call_';

/**
 * Turns whose calls have ids of their own, of at most `length` characters. A shorter id is a digest of the
 * longer one: the same for a call and its result and in every later request, and unlike any other.
 */
export function* fitToolIds(turns: readonly Turn[], length: number | null): Steps<readonly Turn[]> {
  const own = (yield* hasDoubles(turns)) ? yield* withoutDoubles(turns) : turns;
  if (length === null) return own;
  return yield* collectSteps(own, (turn) => [
    turn.parts.some((part) => idOf(part).length > length)
      ? { ...turn, parts: turn.parts.map((part) => withFitting(part, length)) }
      : turn,
  ]);
}

function* hasDoubles(turns: readonly Turn[]): Steps<boolean> {
  const ids = new Set<string>();
  let isDouble = false;
  yield* eachInSteps(turns, ({ parts }) => {
    for (const part of parts) {
      if (part.type !== 'tool_call') continue;
      isDouble ||= ids.has(part.id);
      ids.add(part.id);
    }
  });
  return isDouble;
}

/**
 * Servers that count calls from zero in each answer repeat ids. Results belong to the calls of the last
 * turn that has any, in their order: a call before them was interrupted.
 */
function* withoutDoubles(turns: readonly Turn[]): Steps<readonly Turn[]> {
  const counts = new Map<string, number>();
  const pending = new Map<string, string[]>();
  const rename = (part: Part): Part => {
    if (part.type === 'tool_call') {
      const { id } = part;
      const count = counts.get(id) ?? 0;
      const own = count === 0 ? id : otherId(id, String(count));
      counts.set(id, count + 1);
      const before = pending.get(id);
      if (before) before.push(own);
      else pending.set(id, [own]);
      return own === id ? part : { ...part, id: own };
    }
    const own = part.type === 'tool_result' ? pending.get(part.callId)?.shift() : undefined;
    return own === undefined ? part : withId(part, own);
  };
  return yield* collectSteps(turns, (turn) => {
    if (turn.parts.some(({ type }) => type === 'tool_call')) pending.clear();
    return [{ ...turn, parts: turn.parts.map(rename) }];
  });
}

function idOf(part: Part): string {
  if (part.type === 'tool_call') return part.id;
  return part.type === 'tool_result' ? part.callId : '';
}

function withId(part: Part, id: string): Part {
  if (part.type === 'tool_call') return { ...part, id };
  return part.type === 'tool_result' ? { ...part, callId: id } : part;
}

function withFitting(part: Part, length: number): Part {
  const id = idOf(part);
  if (id.length <= length) return part;
  const digest = createHash('sha256').update(id).digest('base64url');
  return withId(part, `${PREFIX}${digest}`.slice(0, length));
}

/**
 * The request with names of tools and of the answer's schema that a model takes. A name that does not fit is
 * sent as its beginning and a digest: the same wherever it is named and in every later request, and unlike
 * any other.
 */
export function* fitNames(
  request: Named,
  bounds: NameBounds,
): Steps<{ named: Named; names: OwnNames }> {
  const { turns, tools, toolChoice, output } = request;
  const said = yield* namesIn(request);
  const sent = new Map<string, string>();
  const names = new Map<string, string>();
  for (const name of said) {
    if (isFitting(name, bounds)) continue;
    const own = fitName(name, bounds, (other) => said.has(other) || names.has(other));
    sent.set(name, own);
    names.set(own, name);
  }
  const named = {
    turns: sent.size === 0 ? turns : yield* renameTurns(turns, sent),
    tools: tools.map((tool) =>
      tool.type === 'function' ? { ...tool, name: sent.get(tool.name) ?? tool.name } : tool,
    ),
    toolChoice:
      typeof toolChoice === 'object'
        ? { name: sent.get(toolChoice.name) ?? toolChoice.name }
        : toolChoice,
    output: fitOutputName(output, bounds),
  };
  return { named, names };
}

function* namesIn({ turns, tools, toolChoice }: Named): Steps<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const tool of tools) if (tool.type === 'function') names.add(tool.name);
  if (typeof toolChoice === 'object') names.add(toolChoice.name);
  yield* eachInSteps(turns, ({ parts }) => {
    for (const part of parts) if (isOfTool(part) && part.name !== undefined) names.add(part.name);
  });
  return names;
}

function isOfTool(part: Part): part is Extract<Part, { type: 'tool_call' | 'tool_result' }> {
  return part.type === 'tool_call' || part.type === 'tool_result';
}

function renameTurns(
  turns: readonly Turn[],
  sent: ReadonlyMap<string, string>,
): Steps<readonly Turn[]> {
  const rename = (part: Part): Part => {
    const name = isOfTool(part) ? sent.get(part.name ?? '') : undefined;
    return name !== undefined && isOfTool(part) ? { ...part, name } : part;
  };
  return collectSteps(turns, (turn) => [
    turn.parts.some(isOfTool) ? { ...turn, parts: turn.parts.map(rename) } : turn,
  ]);
}

function fitOutputName(output: CanonicalRequest['output'], bounds: NameBounds): typeof output {
  if (output?.type !== 'schema' || output.name === undefined) return output;
  return { ...output, name: fitName(output.name, bounds) };
}
