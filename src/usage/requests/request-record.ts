import { fromNanos } from '../../core/money.ts';
import type { AttemptRecord, RequestOutcome } from '../ledger/ledger.ts';
import { knownCost, toShownCost } from '../usage.ts';
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
  /** Whoever used the client, as that claims it; null where it named nobody. */
  end_user: string | null;
  /** Tags of the request that count; null: none. */
  tags: Readonly<Record<string, string>> | null;
  answered_by: { model: string; provider: string; upstream_model: string } | null;
  /** The HTTP status, 499 when the client went away first, null while pending or when it died with its worker. */
  status: number | null;
  result: RequestResult;
  error_code: string | null;
  attempts: AttemptView[];
  /** Usage and cost are those of the answer and of what was discarded before it. */
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

/** One candidate that was asked, or left alone. */
export interface AttemptView extends Omit<AttemptRecord, 'discarded'> {
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
  return {
    ...toHead(id, start),
    answered_by: null,
    status: null,
    result: 'pending',
    error_code: null,
    attempts: [],
    usage: toUsageRecord([]),
    estimated: false,
    cost: fromNanos(0),
    losses: [],
    overhead_us: null,
    first_content_ms: null,
    total_ms: null,
  };
}

/** The record of a call that has ended. */
export function toFinalRecord(id: string, row: EndRow): RequestRecord {
  const [start, status, result, errorCode, answeredBy, attempts, usage, estimated, cost] = row;
  const [, , , , , , , , , losses, overheadUs, firstContentMs, totalMs, content, unpriced] = row;
  return {
    ...toHead(id, start),
    answered_by: answeredBy && {
      model: answeredBy[0],
      provider: answeredBy[1],
      upstream_model: answeredBy[2],
    },
    status,
    result,
    error_code: errorCode,
    attempts: attempts.map(toAttemptView),
    usage: toUsageRecord(usage),
    estimated,
    cost: toShownCost(knownCost({ cost, unpriced: unpriced === 1 })),
    losses: [...losses],
    overhead_us: overheadUs,
    first_content_ms: firstContentMs,
    total_ms: totalMs,
    ...(content ? { content } : {}),
  };
}

function toHead(id: string, start: StartRow) {
  const [at, organization, key, keyName, surface, model, stream, alias = null, ...more] = start;
  const [origin, reserved] = more;
  return {
    id,
    created_at: new Date(at).toISOString(),
    organization,
    key: { id: key, name: keyName },
    surface,
    model,
    alias,
    stream,
    conversation: origin?.conversation ?? null,
    end_user: origin?.endUser ?? null,
    tags: origin?.tags ?? null,
    ...(reserved !== undefined && { reserved: fromNanos(reserved) }),
  };
}

function toAttemptView([
  provider,
  model,
  status,
  outcome,
  ms,
  usage,
  cost,
  cause = null,
  verdict = outcome === 'ok' ? 'final' : undefined,
]: AttemptRow): AttemptView {
  const told = { ...(cause !== null && { cause }), ...(verdict && { verdict }) };
  const head = { provider, model, status, outcome, ms, ...told };
  if (!usage) return head;
  return { ...head, usage: toUsageRecord(usage), cost: fromNanos(cost ?? 0) };
}
