import type { RequestRecord } from '../../client/requests.ts';
import { isRecord } from '../../client/http/guards.ts';
import { ERRORS } from '../../core/errors.ts';
import { oneLine } from '../../core/printable.ts';
import { toShellArguments } from '../../core/shell-word.ts';
import type { Style } from '../output/style.ts';
import { renderFields, renderTable } from '../output/table.ts';
import type { Column } from '../output/table.ts';

type Facts = Readonly<Record<string, unknown>>;

/** One attempt, with its distance from the beginning of the request. */
interface Attempt {
  readonly number: number;
  /** Milliseconds. */
  readonly after: number;
  readonly facts: Facts;
}

/**
 * The record of a request for people, from its outcome to its cost; facts that it does not have take no
 * line. A record of an own organization has fewer of them.
 */
export async function renderRequest(record: RequestRecord, style: Style): Promise<string> {
  const attempts = attemptsOf(record);
  const table = await renderTable(attempts, columnsOf(attempts), { style, empty: '' });
  const parts = [
    style.bold(wrapped(sentenceOf(record), style.width)),
    renderFields(factsOf(record), style),
    table,
    nextStep(record),
  ];
  return parts.filter(Boolean).join('\n\n');
}

/** What became of the request, in a sentence. */
function sentenceOf(record: RequestRecord): string {
  const { result, status, cost, total_ms: ms } = record;
  const refused = record['refused_by'];
  const took = ms === null ? '' : ` after ${ms} ms`;
  const code = textOf(record['error_code']);
  if (result === 'pending') return `The request is under way since ${record.created_at}.`;
  if (result === 'ok') {
    const price = cost === null ? 'for an unknown price' : `for ${cost} USD`;
    const by = isRecord(record['answered_by']) ? textOf(record['answered_by']['provider']) : '';
    return `Answered${by && ` by ${by}`}${took} ${price}.`;
  }
  if (result === 'aborted') return `The client left${took}, before the answer was complete.`;
  if (result === 'interrupted')
    return code === 'worker_lost'
      ? 'The process that served the request ended before the answer did.'
      : `The answer broke off${took}: ${code || 'for an unknown cause'}.`;
  const head = `Refused with ${status ?? 'no status'}${code && ` (${code})`}`;
  if (isRecord(refused)) return `${head}. ${textOf(refused['text'])}`;
  const row = Object.entries(ERRORS).find(([name]) => name === code);
  const tried = attemptsOf(record).length;
  if (tried > 0) return `Failed${took} with ${status} (${code}): ${causeOf(record)}.`;
  return row ? `${head}: ${row[1].message}.` : `${head}.`;
}

/** Outcome of the last attempt, which decided. */
function causeOf(record: RequestRecord): string {
  const last = attemptsOf(record).at(-1)?.facts ?? {};
  const detail = textOf(last['cause']);
  return `${textOf(last['provider'])} ended with ${textOf(last['outcome'])}${detail && `, ${detail}`}`;
}

function factsOf(record: RequestRecord): Facts {
  const { created_at: at, surface, model, status, cost, id } = record;
  const by = record['answered_by'];
  const alias = textOf(record['alias']);
  const stream = record['stream'] === true ? ', as a stream' : '';
  return withoutAbsent({
    request: id,
    when: `${at}${timesOf(record)}`,
    who: whoOf(record),
    conversation: record['conversation'],
    model: `${alias && `${alias}, which is `}${model || 'not known'}, over ${surface}${stream}`,
    provider: isRecord(by) ? providerOf(by, model) : undefined,
    status,
    tokens: tokensOf(record),
    money: moneyOf(record, cost),
    losses: listOf(record['losses']),
    content: isRecord(record['content']) ? record['content'] : undefined,
  });
}

function providerOf(by: Facts, asked: string): string {
  const instead = by['model'] === asked ? '' : `${textOf(by['model'])} in its place, `;
  return `${instead}${textOf(by['provider'])} as ${textOf(by['upstream_model'])}`;
}

function timesOf({ total_ms: ms, ...record }: RequestRecord): string {
  const { first_content_ms: first, overhead_us: own, attempts } = record;
  const tried = Array.isArray(attempts) && attempts.length > 0;
  const parts = [
    ms === null ? '' : `${ms} ms`,
    typeof first === 'number' ? `first content after ${first} ms` : '',
    typeof own === 'number' && tried ? `${(own / 1000).toFixed(1)} ms of it before a provider` : '',
  ];
  const text = parts.filter(Boolean).join(', ');
  return text && `, took ${text}`;
}

function whoOf({ key, organization, ...record }: RequestRecord): string | undefined {
  const { organization_name: owner, end_user: user, tags } = record;
  const parts = [
    isRecord(key) && key['name'] ? `key ${textOf(key['name'])}` : '',
    organization ? `organization ${textOf(owner) || textOf(organization)}` : '',
    user ? `user ${textOf(user)}` : '',
    isRecord(tags) ? Object.entries(tags).map(([tag, value]) => `${tag}=${textOf(value)}`) : '',
  ];
  return parts.flat().filter(Boolean).join(', ') || undefined;
}

const TOKENS: readonly [member: string, word: string][] = [
  ['input_tokens', 'input'],
  ['cache_read_tokens', 'read from a cache'],
  ['cache_write_5m_tokens', 'written to a cache for 5 minutes'],
  ['cache_write_1h_tokens', 'written to a cache for 1 hour'],
  ['output_tokens', 'output'],
  ['reasoning_tokens', 'of it reasoning'],
  ['images', 'images'],
  ['seconds', 'seconds'],
];

function tokensOf({ usage, estimated }: RequestRecord): string | undefined {
  if (!isRecord(usage)) return undefined;
  const used = TOKENS.filter(([member]) => Number(usage[member]) > 0);
  const text = used.map(([member, word]) => `${textOf(usage[member])} ${word}`).join(', ');
  return text && `${text}${estimated === true ? ' (estimated)' : ''}`;
}

function moneyOf(record: RequestRecord, cost: string | null): string | undefined {
  const reserved = textOf(record['reserved']);
  const held = reserved && `, of ${reserved} reserved`;
  if (record.result === 'pending') return reserved ? `${reserved} USD reserved` : undefined;
  if (cost === null) return `unpriced${held}`;
  return Number(cost) > 0 || reserved ? `${cost} USD${held}` : undefined;
}

function attemptsOf({ attempts, overhead_us: own }: RequestRecord): Attempt[] {
  if (!Array.isArray(attempts)) return [];
  let after = typeof own === 'number' ? own / 1000 : 0;
  return attempts.filter(isRecord).map((facts, index) => {
    const attempt = { number: index + 1, after: Math.round(after), facts };
    after += Number(facts['ms'] ?? 0);
    return attempt;
  });
}

/** Columns without a single value are left out. */
function columnsOf(attempts: readonly Attempt[]): Column<Attempt>[] {
  const of = (title: string, member: string): Column<Attempt> => ({
    title,
    value: ({ facts }) => facts[member],
  });
  const columns = [
    { title: 'ATTEMPT', value: ({ number }: Attempt) => number },
    of('PROVIDER', 'provider'),
    { ...of('MODEL', 'model'), isCut: true },
    of('STATUS', 'status'),
    of('OUTCOME', 'outcome'),
    { ...of('CAUSE', 'cause'), isCut: true },
    { title: 'BEGAN AFTER', value: ({ after }: Attempt) => `${after} ms` },
    { title: 'TOOK', value: ({ facts }: Attempt) => `${textOf(facts['ms'])} ms` },
    of('COST USD', 'cost'),
    of('THEN', 'verdict'),
    {
      title: 'CREDENTIAL',
      value: ({ facts }: Attempt) => (facts['credential'] ? "the client's own" : undefined),
    },
  ];
  return columns.filter(({ value }) => attempts.some((one) => (value(one) ?? null) !== null));
}

/** Command that helps after such an end; empty for none. */
function nextStep({ result, model, ...record }: RequestRecord): string {
  const refused = record['refused_by'];
  if (isRecord(refused)) return raiseOf(refused);
  if (result !== 'error' || attemptsOf({ result, model, ...record }).length === 0) return '';
  return `Where a call would go now: gateway models explain ${model}`;
}

/** How less is reserved, and how the limit is raised. */
function raiseOf(refused: Facts): string {
  const { tokens } = refused;
  const isUnbounded = isRecord(tokens) && tokens['output_from'] !== 'request';
  const command = raisedBy(refused);
  return [
    isUnbounded ? 'Reserve less: send a limit of output tokens, such as max_tokens.' : '',
    command && `Raise the limit: gateway ${command}\nWhere a file declares it, change it there.`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** Words of the command; empty for a limit that only files and settings have. */
function raisedBy({ limit, id, name, unit, per }: Facts): string {
  const called = toShellArguments(oneLine(textOf(name) || textOf(id)));
  const window = per === 'lifetime' ? '' : textOf(per);
  if (limit === 'budget') return `budgets update --amount USD ${called}`;
  if (limit === 'organization')
    return `organizations update --spending-limit.${window || 'lifetime'} USD ${called}`;
  const ofKey: Readonly<Record<string, string>> = {
    money: `--spending-limit${window && `-${window}`} USD`,
    requests: '--rpm-cap N',
    in_flight: '--concurrency-cap N',
  };
  const flag = ofKey[textOf(unit)];
  return limit === 'key' && flag ? `keys update ${flag} ${called}` : '';
}

/** The owner of the limit that refused a request, as rows of lists name it; undefined for none. */
export function refuserText({ refused_by: refused }: RequestRecord): string | undefined {
  if (!isRecord(refused)) return undefined;
  return [refused['limit'], refused['name']].map(textOf).filter(Boolean).join(' ');
}

function wrapped(text: string, width: number): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

function listOf(value: unknown): string | undefined {
  return Array.isArray(value) && value.length > 0 ? value.join(', ') : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function withoutAbsent(facts: Facts): Facts {
  const present = Object.entries(facts).filter(([, fact]) => (fact ?? '') !== '');
  return Object.fromEntries(present);
}
