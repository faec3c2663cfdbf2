import { fromNanos } from '../../core/money.ts';
import type { AttemptRecord, AttemptVerdict, RequestOutcome } from '../ledger/ledger.ts';
import { knownCost, toShownCost } from '../usage.ts';
import { toRefusedBy } from './refused-by.ts';
import type { RefusedBy } from './refused-by.ts';
import type { AttemptRow, EndRow, StartRow } from './request-row.ts';

/** Result of a request: `pending` until it ended, `interrupted` also when its worker died. */
export type RequestResult = RequestOutcome['result'] | 'pending';

/** The record of one request as callers see it; money in decimal dollars, times in ISO 8601. */
export interface RequestRecord {
  id: string;
  created_at: string;
  organization: string;
  key: { id: string; name: string };
  surface: string;
  /** The logical model that was asked for. */
  model: string;
  /** Name that the client asked for where it is another one of the model; else null. */
  alias: string | null;
  stream: boolean;
  /** Id of its conversation, as the client claims it; null where it named none. */
  conversation: string | null;
  /** User of the client, as that claims it; null where it named none. */
  end_user: string | null;
  /** Tags of the request that count; null: none. */
  tags: Readonly<Record<string, string>> | null;
  answered_by: { model: string; provider: string; upstream_model: string } | null;
  /** The HTTP status, 499 when the client went away first, null while pending or when it died with its worker. */
  status: number | null;
  result: RequestResult;
  error_code: string | null;
  /** Limit of money or of a rate that refused it; absent where none did, or it is not known. */
  refused_by?: RefusedBy;
  attempts: AttemptView[];
  /** Usage and cost are those of the answer and of the attempts discarded before it. */
  usage: UsageRecord;
  estimated: boolean;
  /** Amount that limits held for it from its admission to its end; absent where none did. */
  reserved?: string;
  /** Null for an answer whose price is unknown. */
  cost: string | null;
  losses: string[];
  overhead_us: number | null;
  first_content_ms: number | null;
  total_ms: number | null;
  content?: { request: string; response: string };
}

/** One candidate that was tried, or skipped. */
export interface AttemptView extends Omit<AttemptRecord, 'discarded' | 'address'> {
  /** Usage of its 200 that was no answer, and the price of it. Absent: none. */
  usage?: UsageRecord;
  cost?: string;
}

export interface UsageRecord {
  input_tokens: number;
  cache_read_tokens: number;
  cache_write_5m_tokens: number;
  cache_write_1h_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  images: number;
  seconds: number;
}

export function toUsageRecord(sums: readonly number[]): UsageRecord {
  const at = (index: number): number => sums[index] ?? 0;
  return {
    input_tokens: at(0),
    cache_read_tokens: at(1),
    cache_write_5m_tokens: at(2),
    cache_write_1h_tokens: at(3),
    output_tokens: at(4),
    reasoning_tokens: at(5),
    images: at(6),
    seconds: at(7),
  };
}

/** The record of a call that has not ended. */
export function toPendingRecord(id: string, start: StartRow): RequestRecord {
  return toRecord(id, start, {
    answeredBy: null,
    status: null,
    result: 'pending',
    errorCode: null,
    attempts: [],
    usage: [],
    estimated: false,
    cost: fromNanos(0),
    losses: [],
    overheadUs: null,
    firstContentMs: null,
    totalMs: null,
  });
}

/** The record of a call that has ended. */
export function toFinalRecord(id: string, row: EndRow): RequestRecord {
  // Members by index: a row that is destructured as a list costs ten times as much.
  const { 7: estimated, 8: amount, 13: content, 14: unpriced, 15: limit } = row;
  const { 9: losses, 10: overheadUs, 11: firstContentMs, 12: totalMs } = row;
  const record = toRecord(id, row[0], {
    answeredBy: row[4],
    status: row[1],
    result: row[2],
    errorCode: row[3],
    attempts: row[5],
    usage: row[6],
    estimated,
    cost: toShownCost(knownCost({ cost: amount, unpriced: unpriced === 1 })),
    losses,
    overheadUs,
    firstContentMs,
    totalMs,
  });
  if (content) record.content = content;
  if (limit) record.refused_by = toRefusedBy(limit);
  return record;
}

interface Outcome extends Pick<RequestRecord, 'status' | 'result' | 'estimated' | 'cost'> {
  readonly answeredBy: EndRow[4];
  readonly errorCode: string | null;
  readonly attempts: readonly AttemptRow[];
  readonly usage: readonly number[];
  readonly losses: readonly string[];
  readonly overheadUs: number | null;
  readonly firstContentMs: number | null;
  readonly totalMs: number | null;
}

/** One literal, since parts that are spread into it cost more than all else of a record. */
function toRecord(id: string, start: StartRow, outcome: Outcome): RequestRecord {
  const { 7: alias = null, 8: origin, 9: reserved } = start;
  const { answeredBy } = outcome;
  const record: RequestRecord = {
    id,
    created_at: new Date(start[0]).toISOString(),
    organization: start[1],
    key: { id: start[2], name: start[3] },
    surface: start[4],
    model: start[5],
    alias,
    stream: start[6],
    conversation: origin?.conversation ?? null,
    end_user: origin?.endUser ?? null,
    tags: origin?.tags ?? null,
    answered_by: answeredBy && {
      model: answeredBy[0],
      provider: answeredBy[1],
      upstream_model: answeredBy[2],
    },
    status: outcome.status,
    result: outcome.result,
    error_code: outcome.errorCode,
    attempts: outcome.attempts.map(toAttemptView),
    usage: toUsageRecord(outcome.usage),
    estimated: outcome.estimated,
    cost: outcome.cost,
    losses: [...outcome.losses],
    overhead_us: outcome.overheadUs,
    first_content_ms: outcome.firstContentMs,
    total_ms: outcome.totalMs,
  };
  if (reserved !== undefined) record.reserved = fromNanos(reserved);
  return record;
}

function toAttemptView(row: AttemptRow): AttemptView {
  const { 0: provider, 1: model, 2: status, 3: outcome, 4: ms } = row;
  const {
    5: usage,
    6: cost = 0,
    7: cause = null,
    8: verdict = verdictOf(outcome),
    9: credential,
  } = row;
  const view: AttemptView = { provider, model, status, outcome, ms };
  if (cause !== null) view.cause = cause;
  if (verdict) view.verdict = verdict;
  if (credential) view.credential = credential;
  if (!usage) return view;
  view.usage = toUsageRecord(usage);
  view.cost = fromNanos(cost);
  return view;
}

/** Verdict that goes without saying. */
const verdictOf = (outcome: string): AttemptVerdict | undefined =>
  outcome === 'ok' ? 'final' : undefined;
