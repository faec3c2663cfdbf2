import type { Protocol } from '../registry.ts';
import type { Capabilities, Rule } from './capabilities.ts';
import { RULES } from './rules.ts';

/** Minor versions below one major version. */
const MINORS = 1000;
const VERSION = String.raw`(\d{1,2})(?:[-.](\d{1,2})(?!\d))?(?!\d)`;

/** Finds the version of a model whose name fits one pattern; see `Rule.models` for patterns. */
function versionFinder(pattern: string): (model: string) => number | undefined {
  const source = pattern
    .replaceAll('.', String.raw`\.`)
    .replaceAll('*', '[a-z]+')
    .replaceAll('#', VERSION);
  const end = pattern.endsWith('#') ? '' : '(?![a-z0-9])';
  const expression = new RegExp(`(?<![a-z0-9])${source}${end}`, 'i');
  return (model) => {
    const found = expression.exec(model);
    return found ? Number(found[1] ?? 0) * MINORS + Number(found[2] ?? 0) : undefined;
  };
}

/** Version of a rule as a number that can be compared with those of {@link versionFinder}. */
function toVersion(text: string): number {
  const [major = '0', minor = '0'] = text.split('.');
  return Number(major) * MINORS + Number(minor);
}

/** Model of which nothing is known: it is asked as the client asked. */
export const UNKNOWN: Capabilities = {
  thinking: 'any',
  efforts: null,
  thinking_off: true,
  thinking_unasked: false,
  min_budget: 1,
  max_budget: null,
  sampling: true,
  sampling_with_thinking: true,
  top_p_with_thinking: 1,
  temperature_with_top_p: true,
  forced_tool_with_thinking: true,
  tools_with_reasoning: null,
  tool_id_length: null,
  exact_tool_id_length: null,
  name_length: null,
  name_marks: null,
  name_any_start: true,
  max_tools: null,
  max_stops: null,
  max_seed: null,
  min_output_tokens: 1,
  document_types: null,
  consecutive_assistant_turns: true,
  consecutive_user_turns: true,
  user_after_tool: true,
  assistant_first: true,
  assistant_last: true,
  system_turns: true,
  system_texts: true,
  custom_tools: true,
  penalties: true,
  forced_tool: true,
  tools_with_output: true,
  unsigned_call: null,
  unreasoned_call: null,
  budget_after_calls: true,
  tool_result_media: true,
  any_schema: true,
  blank_texts: true,
  max_temperature: null,
  min_seed: null,
  unknown_members: [],
  user_length: null,
  personal_user: true,
};

/**
 * Returns the capabilities of a model in a protocol: those of every model, then the rules that
 * match, then the members that the route states.
 */
export function capabilitiesOf(
  protocol: Protocol,
  upstreamModel: string,
  route: Partial<Capabilities> = {},
): Capabilities {
  const rules = rulesIn(protocol, upstreamModel).map(({ takes }) => takes);
  return Object.assign({}, UNKNOWN, ...rules, route) as Capabilities;
}

/** Capabilities of a model by the rules of a type of provider; a route adds its own members. */
export function capabilitiesAt(provider: string, upstreamModel: string): Partial<Capabilities> {
  return Object.assign({}, ...rulesAt(provider, upstreamModel).map(({ takes }) => takes));
}

/** The rule that decided each capability: the address of its page, or the part that states it. */
export type DecidedBy = Partial<Record<keyof Capabilities, string>>;

/** Finds it for each capability that any rule, type of provider or route states. */
export function decidedBy(
  protocol: Protocol,
  upstreamModel: string,
  stated: { provider: string; type: Partial<Capabilities>; route: Partial<Capabilities> },
): DecidedBy {
  const levels = [
    ...rulesIn(protocol, upstreamModel),
    { takes: stated.type, source: 'provider' },
    ...rulesAt(stated.provider, upstreamModel),
    { takes: stated.route, source: 'route' },
  ];
  return Object.fromEntries(
    levels.flatMap(({ takes, source }) => Object.keys(takes).map((name) => [name, source])),
  );
}

const rulesIn = (protocol: Protocol, model: string): readonly Rule[] =>
  TABLE.filter(({ providers, protocols, isMeant }) => {
    return !providers && (protocols?.includes(protocol) ?? true) && isMeant(model);
  });

const rulesAt = (provider: string, model: string): readonly Rule[] =>
  TABLE.filter(({ providers, isMeant }) => providers?.includes(provider) && isMeant(model));

const TABLE = RULES.map((rule: Rule) => ({ ...rule, isMeant: matcherOf(rule) }));

function matcherOf({ models, from = '0', below }: Rule): (model: string) => boolean {
  if (!models) return () => true;
  const finders = models.map(versionFinder);
  const first = toVersion(from);
  const end = below === undefined ? Infinity : toVersion(below);
  return (model) =>
    finders.some((versionIn) => {
      const version = versionIn(model);
      return version !== undefined && version >= first && version < end;
    });
}
