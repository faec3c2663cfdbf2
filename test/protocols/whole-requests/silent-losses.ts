import { Buffer } from 'node:buffer';
import { GatewayError } from '../../../src/core/errors.ts';

import type { EncodeOptions } from '../../../src/protocols/protocol.ts';
import { encodeOptions } from '../../support/protocols.ts';
import { rowOf } from '../translating.ts';
import type { Spoken } from '../translating.ts';
import { markersIn } from './shapes.ts';
import { wireTo } from '../spoken.ts';

export interface Translation {
  client: Spoken;
  provider: Spoken;
  /** The provider's name of the model. */
  model: string;
}

interface Sent {
  text: string;
  losses: readonly string[];
}

/**
 * What the provider gets; undefined for a request that is refused.
 *
 * @param options of the provider and the route; default none
 */
export function send(
  { client, provider, model }: Translation,
  body: object,
  options: Partial<EncodeOptions> = {},
): Sent | undefined {
  const losses: string[] = [];
  const stream = 'stream' in body && body.stream === true;
  try {
    const peek = rowOf(client).peek(Buffer.from(JSON.stringify(body)), stream);
    const wire = wireTo(rowOf(client).protocol, provider);
    const text = String(wire.encode(peek, encodeOptions({ ...options, model, losses })));
    return { text, losses };
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined;
    throw thrown;
  }
}

type Step = string | number;
export interface Leaf {
  path: readonly Step[];
  value: unknown;
}

/** Members without members, and elements without any. */
export function leavesOf(value: unknown, path: readonly Step[] = []): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((one, at) => leavesOf(one, [...path, at]));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, one]) => leavesOf(one, [...path, name]));
  return value === null || value === undefined ? [] : [{ path, value }];
}

/** `messages[0].content`. */
export function spell(path: readonly Step[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/** The members that neither arrived nor are named. */
export function silentLosses(translation: Translation, body: object, sent: Sent): Leaf[] {
  const arrived = new Set(markersIn(sent.text));
  return leavesOf(body).filter((leaf) => {
    if (isUsual(leaf, body)) return false;
    const markers = markersIn(String(leaf.value));
    const isThere =
      markers.length > 0
        ? markers.every((one) => arrived.has(one))
        : matters(translation, { body, leaf, sent });
    return !isThere && !sent.losses.some((name) => isNamed(leaf, name, body));
  });
}

/** True where the provider gets something else without the member, or cannot be asked without it. */
function matters(
  translation: Translation,
  { body, leaf, sent }: { body: object; leaf: Leaf; sent: Sent },
): boolean {
  const { path } = leaf;
  if (send(translation, omit(body, path) as object)?.text !== sent.text) return true;
  // Without a word a model may do what that word asks for.
  const others =
    path.at(-1) === 'effort' || path.at(-1) === 'reasoning_effort' ? ['low', 'none'] : [];
  return others.some(
    (one) => send(translation, replace(body, path, one) as object)?.text !== sent.text,
  );
}

function replace(value: unknown, [step, ...rest]: readonly Step[], by: unknown): unknown {
  if (step === undefined) return by;
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  const place = copy as Record<Step, unknown>;
  place[step] = replace(place[step], rest, by);
  return copy;
}

function omit(value: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (Array.isArray(value))
    return value.flatMap((one, at) => {
      if (at !== step) return [one];
      return rest.length === 0 ? [] : [omit(one, rest)];
    });
  const entries = Object.entries(value as object).flatMap(([name, one]) => {
    if (name !== step) return [[name, one]];
    return rest.length === 0 ? [] : [[name, omit(one, rest)]];
  });
  return Object.fromEntries(entries) as object;
}

interface Segment {
  step: Step;
  /** Names may leave it out: the type of what stands there, or its place in a list. */
  isOptional: boolean;
}

/** Members that ask for what is done without them, or that the gateway serves itself. */
const USUAL: readonly (readonly [RegExp, ...unknown[]])[] = [
  [/^stream$/, true, false],
  [/^stream_options\.include_usage$/, true, false],
  [/\.detail$/, 'auto'],
  [/^(?:logprobs|store|background)$/, false],
  [/^generationConfig\.responseLogprobs$/, false],
  [/^(?:n|generationConfig\.candidateCount)$/, 1],
  [/^(?:modalities|generationConfig\.responseModalities)\[0\]$/, 'text', 'TEXT'],
  // The second one says the same as the schema beside it.
  [/^generationConfig\.responseMimeType$/, 'text/plain', 'application/json'],
  [/^truncation$/, 'disabled'],
  [/^(?:tool_choice|function_call)$/, 'auto'],
  [/^toolConfig\.functionCallingConfig\.mode$/, 'AUTO'],
  [/^parallel_tool_calls$/, true],
  [/^tool_choice\.disable_parallel_tool_use$/, false],
  [/^tools\[\d+\]\.(?:function\.)?strict$/, false],
  [/\.is_error$/, false],
  // Servers tell the type of what is at an address, and texts are plain.
  [/\.fileData\.mimeType$/, 'image/png'],
  [/\.media_type$/, 'text/plain'],
  // An output's schema is enforced wherever it is taken without the word for it.
  [/^(?:response_format\.json_schema|text\.format)\.strict$/, true, false],
  // Asked of every provider.
  [/^include\[0\]$/, 'reasoning.encrypted_content'],
  // Nothing is shown of reasoning unless that is asked for.
  [/^reasoning\.exclude$/, true, false],
  [/\.includeThoughts$/, false],
  [/^thinking\.display$/, 'omitted'],
  // A model that cannot reason does not.
  [/^(?:reasoning_effort|reasoning\.effort)$/, 'none'],
  [/^reasoning\.enabled$/, true, false],
  [/\.thinkingBudget$/, 0, -1],
];

/** Kinds of objects come with their contents, which tell whether they arrived. */
const KINDS: ReadonlySet<unknown> = new Set(['type', 'role']);

function isUsual({ path, value }: Leaf, body: object): boolean {
  if (KINDS.has(path.at(-1))) return true;
  const place = spell(path);
  const { tool_choice: choice, top_logprobs: top } = body as Record<string, unknown>;
  if (choice === 'none' && place === 'parallel_tool_calls') return true;
  if (top !== undefined && place.startsWith('include') && /logprobs/.test(String(value)))
    return true;
  return USUAL.some(([where, ...values]) => where.test(place) && values.includes(value));
}

/** Names that stand for other members than those that are spelled so. */
const PLACES: Readonly<Record<string, RegExp>> = {
  name: /^messages\[\d+\]\.name$/,
  strict: /^(?:tools|functions)\[/,
  tool_choice: /^(?:tool_choice|function_call)/,
  user: /^(?:user|safety_identifier)$/,
  logprobs: /^(?:top_)?logprobs$/,
  top_logprobs: /^(?:top_logprobs$|include)/,
  'generationConfig.logprobs': /^generationConfig\.(?:responseL|l)ogprobs$/,
  reasoning_effort: /^reasoning(?:_effort|\.)/,
  thinking: /^(?:thinking|output_config\.effort)/,
  max_completion_tokens: /^max_(?:completion_)?tokens$/,
  'messages.content.cache_control': /^(?:messages|system)\b.*\.cache_control/,
};

/** Names of signatures, which stand for all of the reasoning that they prove. */
const SIGNATURES: ReadonlySet<string> = new Set([
  'reasoning_details',
  'reasoning.encrypted_content',
  'messages.content.thinking.signature',
  'thoughtSignature',
]);
const REASONING: ReadonlySet<unknown> = new Set(['reasoning', 'thinking', 'redacted_thinking']);

/** True within a block, an item or a part of reasoning, and its members in a chat message. */
function isOfReasoning(path: readonly Step[], body: object): boolean {
  let value: unknown = body;
  return path.some((step) => {
    value = (value as Record<Step, unknown>)[step];
    const { type, thought } = (value ?? {}) as { type?: unknown; thought?: unknown };
    const isMember = step === 'reasoning_content' || step === 'reasoning_details';
    return isMember || REASONING.has(type) || thought === true;
  });
}

/** True where the name is that of the member or of what it is in. */
export function isNamed({ path }: Leaf, name: string, body: object): boolean {
  if (SIGNATURES.has(name) && isOfReasoning(path, body)) return true;
  const place = PLACES[name];
  if (place) return place.test(spell(path));
  // Contents of results are named as those of messages.
  const own = name.replace(/^messages\.content\./, '');
  const steps = [...own.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([all, index]): Step =>
    index === undefined ? all : Number(index),
  );
  const segments = segmentsOf(
    body,
    path,
    steps.some((step) => typeof step === 'number'),
  );
  if (steps[0] === path[0]) return begins(segments, steps);
  return segments.some((_segment, at) => begins(segments.slice(at), steps));
}

function segmentsOf(body: object, path: readonly Step[], isExact: boolean): Segment[] {
  let value: unknown = body;
  return path.flatMap((step): Segment[] => {
    value = (value as Record<Step, unknown>)[step];
    const own = { step, isOptional: typeof step === 'number' && !isExact };
    const { type, role } = (value ?? {}) as { type?: unknown; role?: unknown };
    const kinds = [type, role].filter((kind) => typeof kind === 'string');
    return [own, ...kinds.map((kind) => ({ step: kind, isOptional: true }))];
  });
}

function begins(segments: readonly Segment[], [step, ...rest]: readonly Step[]): boolean {
  if (step === undefined) return true;
  const [first, ...others] = segments;
  if (!first) return false;
  if (first.step === step && begins(others, rest)) return true;
  return first.isOptional && begins(others, [step, ...rest]);
}
