import type { ModelCapabilities, NameStep, PlanLine } from '../../../client/models.ts';
import { oneLine } from '../../../core/printable.ts';
import { lookUp } from '../../resources/not-found.ts';
import { priceText } from '../../output/price-text.ts';
import { renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'models explain'> = async ({ args, flags, context }) => {
  const client = await context.connect();
  const query = { model: args.name, protocol: flags.protocol };
  const plan = await lookUp({ kind: 'models', named: query.model }, () =>
    client.models.explain(query, context.signal),
  );
  return {
    data: plan,
    text: async (style) => {
      const { candidates, left_out: leftOut, protocol, model } = plan;
      const head = `${model} asked in ${protocol}:`;
      const empty = 'no route can serve it';
      const tried = await renderTable(numbered(candidates), COLUMNS, { style, empty });
      const names = namesOf(plan.asked, plan.resolved_by);
      const parts = [...names, head, tried];
      const known = numbered(candidates).flatMap(withCapabilities);
      if (known.length > 0) {
        const takes = await renderTable(known, CAPABILITIES, { style, empty: '' });
        parts.push('what their models take of translated requests:', takes);
      }
      const rules = numbered(candidates).flatMap(rulesOf);
      if (rules.length > 0) parts.push('decided by:', rules.map(oneLine).join('\n'));
      if (leftOut.length > 0) {
        const rest = await renderTable(numbered(leftOut), LEFT_OUT, { style, empty: '' });
        parts.push('left out:', rest);
      }
      return parts.join('\n\n');
    },
  };
};

/** Says by which rules a name led to its model, one line each; nothing from older gateways. */
function namesOf(asked = '', steps: readonly NameStep[] = []): string[] {
  let name = asked;
  const lines = steps.map((step) => {
    const line = (RULES[step.rule] ?? (() => `${name} is ${step.gives}`))(name, step);
    name = step.gives;
    return line;
  });
  return lines.length > 0 ? [lines.join('\n')] : [];
}

const RULES: Readonly<Record<string, (name: string, step: NameStep) => string>> = {
  model: (name) => `${name} is a declared model`,
  alias: (name, { by, gives }) => `${name} is ${gives}, by the alias ${by}`,
  provider: (name, { by, pattern }) =>
    `${name} is passed through, by the pattern ${pattern} of the provider ${by}`,
  vendor: (name, { by, gives }) => `${name} is ${gives}, with the vendor ${by}`,
};

interface Numbered extends PlanLine {
  at: number;
}

function numbered(lines: readonly PlanLine[]): Numbered[] {
  return lines.map((line, index) => ({ ...line, at: index + 1 }));
}

const PROVIDER: Column<Numbered> = { title: 'PROVIDER', value: ({ provider }) => provider };
const UPSTREAM: Column<Numbered> = {
  title: 'UPSTREAM MODEL',
  value: (line) => line.upstream_model,
};
const WHY: Column<Numbered> = {
  title: 'WHY',
  value: ({ why }) => why,
  weight: 2,
  isCut: true,
};

const COLUMNS: readonly Column<Numbered>[] = [
  { title: '#', value: ({ at }) => at },
  PROVIDER,
  UPSTREAM,
  { title: 'IN', value: ({ protocol }) => protocol },
  { title: 'HEALTH', value: ({ health }) => health.state },
  { title: 'MS', value: ({ health }) => health.latency_ms },
  { title: 'PRICE USD', value: ({ pricing }) => pricing && (priceText(pricing) ?? 'unpriced') },
  WHY,
];

const LEFT_OUT: readonly Column<Numbered>[] = [PROVIDER, UPSTREAM, WHY];

interface Known extends ModelCapabilities {
  at: number;
}

/** None from a gateway that does not report them. */
function withCapabilities({ at, capabilities }: Numbered): Known[] {
  return capabilities ? [{ ...capabilities, at }] : [];
}

const CAPABILITIES: readonly Column<Known>[] = [
  { title: '#', value: ({ at }) => at },
  { title: 'THINKING', value: thinkingOf },
  { title: 'EFFORTS', value: ({ efforts }) => listOf(efforts) },
  { title: 'SAMPLING', value: samplingOf },
  { title: 'TOOLS', value: ({ tools_with_reasoning: only }) => only ?? 'any' },
  { title: 'FORCED TOOLS', value: (line) => besideThinking(line.forced_tool_with_thinking) },
  {
    title: 'TOOL IDS',
    value: ({ tool_id_length: most }) => (most === null ? 'any' : `to ${most}`),
  },
  {
    title: 'TOOL NAMES',
    value: ({ name_length: most }) => (most === null ? 'any' : `to ${most}`),
  },
  { title: 'OUTPUT', value: ({ min_output_tokens: least }) => `from ${least}` },
  { title: 'DOCUMENTS', value: ({ document_types: types }) => listOf(types) },
];

/** Lines of the rules with the capabilities that each decided; none from an older gateway. */
function rulesOf({ at, decided_by: decided }: Numbered): string[] {
  const rules = new Map<string, string[]>();
  for (const [name, rule] of Object.entries(decided ?? {}))
    rules.set(rule, [...(rules.get(rule) ?? []), name]);
  return Array.from(rules, ([rule, all]) => `${at}  ${all.join(', ')}: ${STATED[rule] ?? rule}`);
}

const STATED: Readonly<Record<string, string>> = {
  provider: 'the type of the provider',
  route: '`capabilities` of the route',
};

/** A form with the bounds of its budget, and whether it can be switched off. */
function thinkingOf(line: Known): string {
  const { thinking, min_budget: least, max_budget: most, thinking_off: canStop } = line;
  const bounds = most === null ? `${least} or more` : `${least} to ${most}`;
  const form = thinking === 'budget' || thinking === 'any' ? `${thinking}, ${bounds}` : thinking;
  return canStop || thinking === 'none' ? form : `${form}, always`;
}

function samplingOf(line: Known): string {
  if (!line.sampling) return 'none';
  const how = besideThinking(line.sampling_with_thinking);
  return line.temperature_with_top_p ? how : `${how}; temperature or top_p`;
}

function besideThinking(isTaken: boolean): string {
  return isTaken ? 'any' : 'not while thinking';
}

function listOf(words: readonly string[] | null): string {
  return words === null ? 'any' : words.join(' ') || 'none';
}
