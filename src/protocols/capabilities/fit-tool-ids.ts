import { createHash } from 'node:crypto';
import { collectSteps, eachInSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { CanonicalRequest, Part, Turn } from '../canonical/canonical.ts';
import { otherId } from '../canonical/unique-ids.ts';
import type { Capabilities } from './capabilities.ts';
import { fitName, isFitting } from './name-bounds.ts';
import type { NameBounds, OwnNames } from './name-bounds.ts';

type Named = Pick<CanonicalRequest, 'turns' | 'tools' | 'toolChoice' | 'output'>;

const PREFIX = 'call_';
const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

type IdForm = Pick<Capabilities, 'tool_id_length' | 'exact_tool_id_length'>;

/**
 * Turns whose calls have ids of their own, in the form that the model takes. An id of another form becomes a
 * digest: the same for a call and its result and in every later request, and unlike any other.
 */
export function* fitToolIds(turns: readonly Turn[], form: IdForm): Steps<readonly Turn[]> {
  const own = (yield* hasDoubles(turns)) ? yield* withoutDoubles(turns) : turns;
  const fit = fitterOf(form);
  if (!fit) return own;
  const withFitting = (part: Part): Part => {
    const id = idOf(part);
    const fitting = id === undefined ? id : fit(id);
    return fitting === undefined || fitting === id ? part : withId(part, fitting);
  };
  return yield* collectSteps(own, (turn) => {
    const parts = turn.parts.map(withFitting);
    return [parts.every((part, at) => part === turn.parts[at]) ? turn : { ...turn, parts }];
  });
}

function fitterOf({
  tool_id_length: most,
  exact_tool_id_length: exact,
}: IdForm): ((id: string) => string) | undefined {
  if (exact !== null) {
    return (id) => (id.length === exact && /^[A-Za-z\d]+$/.test(id) ? id : shortDigest(id, exact));
  }
  return most === null ? undefined : (id) => (id.length > most ? longDigest(id, most) : id);
}

/** @param length at most the bytes of the digest */
function shortDigest(id: string, length: number): string {
  const bytes = createHash('sha256').update(id).digest().subarray(0, length);
  return Array.from(bytes, (byte) => LETTERS_AND_DIGITS[byte % LETTERS_AND_DIGITS.length]).join('');
}

function longDigest(id: string, length: number): string {
  const digest = createHash('sha256').update(id).digest('base64url');
  return `${PREFIX}${digest}`.slice(0, length);
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

function idOf(part: Part): string | undefined {
  if (part.type === 'tool_call') return part.id;
  return part.type === 'tool_result' ? part.callId : undefined;
}

function withId(part: Part, id: string): Part {
  if (part.type === 'tool_call') return { ...part, id };
  return part.type === 'tool_result' ? { ...part, callId: id } : part;
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
