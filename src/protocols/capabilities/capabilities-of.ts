import type { Protocol } from '../registry.ts';
import type { Capabilities, Rule } from './capabilities.ts';
import { RULES } from './rules.ts';
import { toVersion, versionFinder } from './version-of.ts';

/** Model of which nothing is known: it is asked as the client asked. */
export const UNKNOWN: Capabilities = {
  thinking: 'any',
  efforts: null,
  thinking_off: true,
  min_budget: 1,
  max_budget: null,
  sampling: true,
  sampling_with_thinking: true,
  top_p_with_thinking: 1,
  temperature_with_top_p: true,
  forced_tool_with_thinking: true,
  tool_id_length: null,
  min_output_tokens: 1,
  document_types: null,
  consecutive_assistant_turns: true,
  assistant_first: true,
  custom_tools: true,
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
  const found: Capabilities = { ...UNKNOWN };
  for (const { protocols, isMeant, takes } of TABLE) {
    if (protocols && !protocols.includes(protocol)) continue;
    if (isMeant(upstreamModel)) Object.assign(found, takes);
  }
  return Object.assign(found, route);
}

const TABLE = RULES.map((rule) => ({ ...rule, isMeant: matcherOf(rule) }));

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
