import { createHash } from 'node:crypto';
import { GatewayError } from '../../core/errors.ts';
import type { CanonicalRequest, Part, Tool } from '../canonical/canonical.ts';
import type { Feature } from '../features.ts';
import type { Capabilities } from './capabilities.ts';
import { closeSchema } from './close-schema.ts';

const ADDRESS = /@/;
const TELEPHONE = /^\+?[\d\s().-]{10,}$/;

/** Model that a request is fitted to, and the features that are left out or changed for it. */
interface Fitting {
  readonly takes: Capabilities;
  readonly losses: Set<Feature>;
}

/**
 * The request with its tools, its choice among them, the form of its answer, its stop sequences and
 * its end user as a model takes them.
 *
 * @param losses takes the features that are left out or changed
 */
export function fitSettings(
  request: CanonicalRequest,
  takes: Capabilities,
  losses: Set<Feature>,
): CanonicalRequest {
  const { output, stop, seed, user, temperature = 0 } = request;
  const fitting = { takes, losses };
  const fitted: CanonicalRequest = Object.assign({}, request);
  if (!takes.any_schema) fitted.tools = request.tools.map((tool) => fitStrict(tool, losses));
  if (output) setOrOmit(fitted, 'output', fitOutput(request, fitting));
  if (stop) setOrOmit(fitted, 'stop', fitStops(stop, fitting));
  if (seed !== undefined) fitted.seed = fitSeed(seed, takes);
  if (user !== undefined) fitted.user = fitUser(user, takes);
  if (takes.max_temperature !== null && temperature > takes.max_temperature) {
    losses.add('temperature');
    fitted.temperature = takes.max_temperature;
  }
  for (const name of takes.unknown_members) omit(fitted, name, losses);
  if (!takes.forced_tool && isForced(request)) {
    losses.add('tool_choice');
    fitted.toolChoice = 'auto';
  }
  return fitted;
}

/**
 * The tools that the client lets the model call, and the choice among them. A choice of a tool that was left
 * out is left out with it, since providers refuse it.
 *
 * @param losses takes a choice that is left out
 * @throws GatewayError `unsupported_feature` for more tools than the model takes
 */
export function fitChoice(
  request: CanonicalRequest,
  { max_tools: most }: Capabilities,
  losses: Set<Feature>,
): Choice {
  const choice = chooseAmong(request, losses);
  const { length } = choice.tools;
  if (most === null || length <= most) return choice;
  const message = `this route takes at most ${most} tools, and the request has ${length}; send fewer`;
  throw new GatewayError('unsupported_feature', { message, param: 'tools' });
}

type Choice = Pick<CanonicalRequest, 'tools' | 'toolChoice'>;

function chooseAmong(
  { tools, toolChoice, allowedTools }: CanonicalRequest,
  losses: Set<Feature>,
): Choice {
  const names = tools.flatMap((tool) => (tool.type === 'function' ? [tool.name] : []));
  const chosen = typeof toolChoice === 'object' ? [toolChoice.name] : (allowedTools ?? names);
  const left = chosen.filter((name) => names.includes(name));
  const isGone =
    left.length === 0 && (typeof toolChoice === 'object' || allowedTools !== undefined);
  if (isGone || left.length < chosen.length) losses.add('tool_choice');
  if (isGone) return { tools, toolChoice: undefined };
  if (!allowedTools) return { tools, toolChoice };
  const isAllowed = (tool: Tool): boolean => tool.type !== 'function' || left.includes(tool.name);
  return { tools: tools.filter(isAllowed), toolChoice };
}

/** True where one of the tools must be called. */
export function isForced({ tools, toolChoice }: CanonicalRequest): boolean {
  return tools.length > 0 && (toolChoice === 'required' || typeof toolChoice === 'object');
}

function setOrOmit<Name extends 'output' | 'stop'>(
  request: CanonicalRequest,
  name: Name,
  value: CanonicalRequest[Name] | undefined,
): void {
  if (value === undefined) delete request[name];
  else request[name] = value;
}

/** A tool is not strict where its schema cannot be enforced; the schema itself is sent whole. */
function fitStrict(tool: Tool, losses: Set<Feature>): Tool {
  if (tool.type !== 'function' || tool.strict !== true) return tool;
  let isWhole = true;
  const parameters = closeSchema(tool.parameters, () => (isWhole = false));
  if (isWhole) return { ...tool, parameters };
  losses.add('strict_tools');
  return { ...tool, strict: false };
}

function fitOutput(
  { output, tools }: CanonicalRequest,
  { takes, losses }: Fitting,
): CanonicalRequest['output'] {
  if (!takes.tools_with_output && tools.some(({ type }) => type === 'function')) {
    losses.add(output?.type === 'json' ? 'json_output' : 'schema_output');
    return undefined;
  }
  if (output?.type !== 'schema' || takes.any_schema) return output;
  const schema = closeSchema(output.schema, () => losses.add('schema_bounds'));
  return { ...output, schema };
}

function fitStops(
  stop: readonly string[],
  { takes, losses }: Fitting,
): readonly string[] | undefined {
  const taken = takes.blank_texts ? stop : stop.filter((one) => one.trim() !== '');
  const kept = taken.slice(0, takes.max_stops ?? undefined);
  if (kept.length < stop.length) losses.add('stop_sequences');
  return kept.length === 0 ? undefined : kept;
}

/** Another seed where it is out of bounds, the same in every request. */
function fitSeed(seed: number, { max_seed: most, min_seed: least }: Capabilities): number {
  const fitted = most === null || Math.abs(seed) <= most ? seed : seed % (most + 1);
  return least === null ? fitted : Math.max(Math.abs(fitted), least);
}

const SETTINGS = {
  logprobs: 'logprobs',
  parallel_tool_calls: 'parallelToolCalls',
  service_tier: 'serviceTier',
  user: 'user',
  verbosity: 'verbosity',
} as const;

/** Leaves a member out; a refusal becomes a text. */
function omit(
  request: CanonicalRequest,
  name: Capabilities['unknown_members'][number],
  losses: Set<Feature>,
): void {
  if (name === 'participant_names') {
    if (request.turns.some((turn) => turn.name !== undefined)) losses.add(name);
    request.turns = request.turns.map(({ name: _name, ...turn }) => turn);
  } else if (name === 'refusals' || name === 'reasoning_text') {
    const change = name === 'refusals' ? toText : withoutUnsigned;
    request.turns = request.turns.map((turn) => {
      const parts = turn.parts.flatMap(change);
      if (parts.length < turn.parts.length) losses.add('reasoning_signatures');
      return { ...turn, parts };
    });
  } else if (request[SETTINGS[name]] !== undefined) {
    losses.add(name);
    delete request[SETTINGS[name]];
  }
}

function withoutUnsigned(part: Part): readonly Part[] {
  return part.type === 'reasoning' && part.signature === undefined ? [] : [part];
}

function toText(part: Part): Part {
  return part.type === 'refusal' ? { type: 'text', text: part.text } : part;
}

/** A digest is the same for the same user in every request. */
function fitUser(user: string, { user_length, personal_user }: Capabilities): string {
  const isTaken = personal_user || !(ADDRESS.test(user) || TELEPHONE.test(user));
  if (isTaken && user.length <= (user_length ?? Infinity)) return user;
  return createHash('sha256')
    .update(user)
    .digest('hex')
    .slice(0, user_length ?? undefined);
}
