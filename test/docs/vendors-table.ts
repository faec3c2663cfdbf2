import { RULES } from '../../src/protocols/capabilities/rules.ts';
import { COHERE_API, GROQ_API, MISTRAL_API } from '../../src/protocols/capabilities/open-models.ts';
import { STRICT } from '../../src/providers/mock/strict/strict-vendors.ts';
import type { StrictProtocol } from '../../src/providers/mock/strict/rule.ts';
import { REFUSED, refusal } from '../providers/mock/strict/cases.ts';
import type { Case } from '../providers/mock/strict/cases.ts';
import { modelsOf, takesOf } from './capability-tables.ts';
import { table } from './table.ts';

const APIS = [MISTRAL_API, GROQ_API, COHERE_API];
const link = (source: string): string => `[${new URL(source).host}](${source})`;

/** Per vendor: the bounds of its models and API, and those by which the strict mock refuses. */
export function vendorsText(): string {
  const vendors = [...RULES, ...APIS].map(({ vendor }) => vendor);
  const names = [...new Set([...vendors, ...Object.keys(STRICT)])].sort();
  return names.map((name) => `## ${name}\n\n${sectionsOf(name).join('\n\n')}`).join('\n\n');
}

function sectionsOf(vendor: string): string[] {
  const rules = RULES.filter((rule) => rule.vendor === vendor).map((rule) => [
    modelsOf(rule),
    (rule.protocols ?? []).join(', '),
    takesOf(rule.takes),
    link(rule.source),
  ]);
  const apis = APIS.filter((api) => api.vendor === vendor).map(({ takes, source }) => [
    `\`type: ${vendor}\``,
    '',
    takesOf(takes),
    link(source),
  ]);
  const refused = REFUSED.filter(([name]) => name === vendor).map(refusedBy);
  return [
    ...tableOf(['Upstream model', 'Asked in', 'Takes', 'Source'], [...rules, ...apis]),
    ...tableOf(
      ['In its words, of a request that the strict mock refuses', 'Asked in', 'Source'],
      refused,
    ),
  ];
}

function tableOf(head: string[], rows: string[][]): string[] {
  return rows.length === 0 ? [] : [table([head, ...rows])];
}

/** An example of a rule, in the words of the vendor. */
function refusedBy([vendor, _words, body, protocol]: Case): string[] {
  const words = refusal(vendor, body, protocol) ?? '';
  const protocols: readonly StrictProtocol[] = STRICT[vendor].protocols;
  const found = protocols.find((one) => one.protocol === protocol) ?? protocols[0];
  const { model = 'any', ...rest } = { max_tokens: 2_000, ...body };
  const rule = found?.rules.find((one) => one.refusal(rest, model) === words);
  const source = rule?.source ?? found?.reference ?? '';
  return [code(words.replaceAll('|', '\\|')), found?.protocol ?? '', link(source)];
}

/** As the formatter writes it. */
function code(words: string): string {
  const fence = words.includes('`') ? '``' : '`';
  const gap = words.startsWith('`') || words.endsWith('`') ? ' ' : '';
  return [fence, words, fence].join(gap);
}
