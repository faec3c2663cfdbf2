import type { RequestRow } from '../api/views.ts';
import { refuserOf } from './limit-tone.ts';

/** One condition of the filter line: `status:>=400`, `model:gpt-5*`, `-key:ci`, or a word to search for. */
export interface Term {
  /** Empty for a word that any field may hold. */
  readonly field: string;
  readonly value: string;
  readonly isExcluded: boolean;
}

/** Fields that a filter line may name, and the value of each in a row. */
const FIELDS: Readonly<Record<string, (row: RequestRow) => string | number | null>> = {
  id: ({ id }) => id,
  model: ({ model, alias }) => alias ?? model,
  key: ({ key }) => key.name,
  status: ({ status }) => status,
  result: ({ result }) => result,
  surface: ({ surface }) => surface,
  provider: ({ answered_by: by }) => by?.provider ?? null,
  error: ({ error_code: code }) => code,
  limit: ({ refused_by: refused }) => (refused ? refuserOf(refused) : null),
  ms: ({ total_ms: ms }) => ms,
  cost: ({ cost }) => (cost === null ? null : Number(cost)),
  conversation: (row) => conversationOf(row),
  stream: ({ stream }) => String(stream),
};

export const FILTER_FIELDS: readonly string[] = Object.keys(FIELDS);

/** Id of the conversation or hosted Session that a request belongs to; null for none. */
export function conversationOf(row: RequestRow): string | null {
  const { conversation, session_id: session } = row;
  const named = typeof conversation === 'string' ? conversation : conversation?.id;
  return named ?? session ?? null;
}

/** Terms of a filter line; words in quotes stay together. */
export function parseFilter(text: string): Term[] {
  return wordsOf(text).map((word) => {
    const isExcluded = word.startsWith('-') && word.length > 1;
    const bare = isExcluded ? word.slice(1) : word;
    const at = bare.indexOf(':');
    const field = at > 0 ? bare.slice(0, at) : '';
    const isKnown = Object.hasOwn(FIELDS, field);
    const value = (isKnown ? bare.slice(at + 1) : bare).replaceAll('"', '');
    return { field: isKnown ? field : '', value, isExcluded };
  });
}

/** A condition as a filter line has it. */
export function toTerm(field: string, value: string): string {
  return `${field}:${/\s/.test(value) ? `"${value}"` : value}`;
}

/** The filter line with a condition put in place of those of its field; taken out where it is there. */
export function toggleTerm(text: string, field: string, value: string): string {
  const word = toTerm(field, value);
  const words = wordsOf(text);
  if (words.includes(word)) return words.filter((one) => one !== word).join(' ');
  return [...words.filter((one) => !one.startsWith(`${field}:`)), word].join(' ');
}

/** True where a row meets every term. */
export function matches(row: RequestRow, terms: readonly Term[]): boolean {
  return terms.every((term) => meets(row, term) !== term.isExcluded);
}

function meets(row: RequestRow, { field, value }: Term): boolean {
  if (value === '') return true;
  if (field === '') {
    const word = value.toLowerCase();
    return Object.values(FIELDS).some((read) =>
      String(read(row) ?? '')
        .toLowerCase()
        .includes(word),
    );
  }
  if (field === 'cost' && value === 'unpriced') return row.cost === null;
  const found = FIELDS[field]?.(row) ?? null;
  const compared = /^(>=|<=|>|<)(\d+(?:\.\d+)?)$/.exec(value);
  if (compared) {
    const [, sign = '', edge = ''] = compared;
    return found !== null && compare(Number(found), sign, Number(edge));
  }
  return found !== null && toPattern(value).test(String(found));
}

function compare(found: number, sign: string, edge: number): boolean {
  if (sign === '>=') return found >= edge;
  if (sign === '<=') return found <= edge;
  return sign === '>' ? found > edge : found < edge;
}

/** `*` matches anything; `4xx` a class of status. */
function toPattern(value: string): RegExp {
  if (/^[1-5]xx$/i.test(value)) return new RegExp(`^${value[0]}\\d\\d$`);
  const source = value.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${source}$`, 'i');
}

/** Members of a query that the server can filter by; the others are filtered in the rows. */
export function toServerQuery(terms: readonly Term[]): Record<string, string> {
  const query: Record<string, string> = {};
  for (const { field, value, isExcluded } of terms) {
    if (isExcluded || value === '' || /[*<>]/.test(value)) continue;
    if (field === 'status' && /^\d{3}$/.test(value)) query['status'] = value;
    if (field === 'result' && RESULTS.has(value)) query['status'] = value;
  }
  return query;
}

const RESULTS = new Set(['ok', 'error', 'aborted', 'interrupted', 'pending']);

function wordsOf(text: string): string[] {
  return [...(text.match(/-?(?:[a-z_]+:)?(?:"[^"]*"?|\S+)/g) ?? [])];
}
