import { isJsonObject } from '../../../core/json-value.ts';
import type { Members } from '../../json-fields.ts';

/** What has a canonical form, or means nothing to another protocol. */
const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'metadata',
  'user',
  'safety_identifier',
  'service_tier',
]);

/** Values that ask for what is done anyway. */
const USUAL: Readonly<Record<string, unknown>> = {
  store: false,
  background: false,
  truncation: 'disabled',
};

const INCLUDED: readonly unknown[] = [
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
];

/** Members of a request without a place in the canonical form. */
export function unmappedFields(value: Members): string[] {
  return Object.entries(value).flatMap(([name, one]) => {
    if (KNOWN.has(name) || one === null || USUAL[name] === one) return [];
    if (name === 'reasoning') return rest(name, one, ['effort', 'summary', 'generate_summary']);
    if (name === 'text') return rest(name, one, ['format', 'verbosity']);
    const isKnown = name === 'include' && Array.isArray(one) && one.every(isIncluded);
    return isKnown ? [] : [name];
  });
}

function isIncluded(value: unknown): boolean {
  return INCLUDED.includes(value);
}

function rest(name: string, value: unknown, known: readonly string[]): string[] {
  if (!isJsonObject(value)) return [];
  return Object.keys(value)
    .filter((member) => !known.includes(member) && value[member] !== null)
    .map((member) => `${name}.${member}`);
}
