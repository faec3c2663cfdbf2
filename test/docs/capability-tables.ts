import { z } from 'zod';
import { UNKNOWN } from '../../src/protocols/capabilities/capabilities-of.ts';
import type { Rule } from '../../src/protocols/capabilities/capabilities.ts';
import { budgetOfEffort, EFFORTS } from '../../src/protocols/capabilities/efforts.ts';
import { COHERE_API, GROQ_API, MISTRAL_API } from '../../src/protocols/capabilities/open-models.ts';
import { RULES } from '../../src/protocols/capabilities/rules.ts';
import { PROVIDERS } from '../../src/providers/registry.ts';
import { model } from '../../src/resources/kinds/model.ts';
import { table } from './table.ts';

const code = (text: string): string => `\`${text}\``;

/** What can be said of an upstream model, with what holds where nobody says it. */
export function capabilitiesTable(): string {
  const { properties } = z.toJSONSchema(model.fields, { io: 'input', unrepresentable: 'any' });
  const route = at(properties, 'routes', 'items', 'properties', 'capabilities');
  const [stated] = at(route, 'anyOf') as unknown as object[];
  const rows = Object.entries(UNKNOWN).map(([name, value]) => [
    code(name),
    String(at(stated, 'properties', name, 'description')),
    code(JSON.stringify(value)),
  ]);
  return table([['Member', '', 'Else'], ...rows]);
}

function at(value: unknown, ...path: readonly string[]): Record<string, unknown> {
  return path.reduce(
    (found, name) => found[name] as Record<string, unknown>,
    value as Record<string, unknown>,
  );
}

/** The rules of vendors in their order. */
export function rulesTable(): string {
  const rows = RULES.map(({ source, protocols = [], takes, ...rule }) => [
    modelsOf(rule),
    protocols.join(', '),
    takesOf(takes),
    `[${rule.vendor}](${source})`,
  ]);
  return table([['Upstream model', 'Asked in', 'Takes', 'Source'], ...rows, ...typeRows()]);
}

/** Types of providers that share their capabilities, and the page of the rule that has the same. */
function typeRows(): string[][] {
  const providers = [...PROVIDERS.values()];
  const all = new Set(providers.flatMap(({ capabilities }) => capabilities ?? []));
  return [...all].map((takes) => {
    const apis = [...RULES, MISTRAL_API, GROQ_API, COHERE_API];
    const { vendor, source } = apis.find((rule) => rule.takes === takes)!;
    const types = providers.filter(({ capabilities }) => capabilities === takes);
    const names = types.map(({ id }) => code(`type: ${id}`)).join(', ');
    return [names, '', takesOf(takes), `[${vendor}](${source})`];
  });
}

export function takesOf(takes: object): string {
  return Object.entries(takes)
    .map(([name, value]) => code(`${name}: ${said(value)}`))
    .join(', ');
}

export function modelsOf({
  models,
  from,
  below,
  providers,
}: Pick<Rule, 'models' | 'from' | 'below' | 'providers'>): string {
  if (!models) return 'every one';
  const names = models.map(code).join(', ');
  const first = from === undefined ? '' : ` from ${from}`;
  const end = below === undefined ? '' : ` below ${below}`;
  const types = providers?.map((id) => code(`type: ${id}`)).join(', ');
  return `${names}${first}${end}${types === undefined ? '' : ` at ${types}`}`;
}

function said(value: unknown): string {
  return Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
}

/** Tokens that stand for each effort, in both directions. */
export function effortsTable(): string {
  const budgets = EFFORTS.map((effort) => budgetOfEffort(effort).toLocaleString('en-US'));
  return table([
    ['Effort', ...EFFORTS],
    ['Budget', ...budgets],
  ]);
}
