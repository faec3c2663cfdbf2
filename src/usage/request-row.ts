import { fromNanos } from '../core/money.ts';
import type { AttemptRecord, RequestOutcome, RequestStart } from './ledger.ts';

/** How a request stands: `pending` until it ended, `interrupted` also when its worker died. */
export type RequestResult = RequestOutcome['result'] | 'pending';

const MAX_ATTEMPTS = 32;
const MAX_LOSSES = 100;
const MAX_TEXT = 500;
/** Characters kept of each side's content. */
const MAX_CONTENT = 256 * 1024;

/** What is stored when a request starts. */
interface StartedRow {
  readonly at: number;
  readonly worker: string;
  readonly organization: string;
  readonly key: string;
  readonly keyName: string;
  readonly surface: string;
  readonly model: string;
  readonly stream: boolean;
}

/** What is added when it has ended. */
interface EndedRow extends StartedRow {
  readonly status: number | null;
  readonly result: RequestOutcome['result'];
  readonly errorCode: string | null;
  readonly answeredBy: RequestOutcome['answeredBy'] | null;
  readonly attempts: readonly AttemptRecord[];
  /** input, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning, images, seconds. */
  readonly usage: readonly number[];
  readonly estimated: boolean;
  readonly cost: number;
  readonly losses: readonly string[];
  readonly overheadUs: number | null;
  readonly firstContentMs: number | null;
  readonly totalMs: number | null;
  readonly content?: { request: string; response: string };
}

export type RequestRow = StartedRow | EndedRow;

/** The record of one request as callers see it; money in decimal dollars, times in ISO 8601. */
export interface RequestRecord {
  id: string;
  created_at: string;
  organization: string;
  key: { id: string; name: string };
  surface: string;
  /** The logical name that was asked for. */
  model: string;
  stream: boolean;
  answered_by: { model: string; provider: string; upstream_model: string } | null;
  /** The HTTP status, 499 when the client went away first, null while pending or when it died with its worker. */
  status: number | null;
  result: RequestResult;
  error_code: string | null;
  attempts: AttemptRecord[];
  usage: UsageRecord;
  estimated: boolean;
  cost: string;
  losses: string[];
  overhead_us: number | null;
  first_content_ms: number | null;
  total_ms: number | null;
  content?: { request: string; response: string };
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

export function toStartedRow(start: RequestStart, worker: string): StartedRow {
  const { principal } = start;
  return {
    at: start.at,
    worker,
    organization: principal.organizationId,
    key: principal.keyId,
    keyName: clip(principal.keyName, MAX_TEXT),
    surface: start.surface,
    model: clip(start.model, MAX_TEXT),
    stream: start.stream,
  };
}

/**
 * Every part is bounded: one oversized record must not hold up the commit of all others. Written out
 * member by member, since spreading an object of this size costs ten times as much.
 */
export function toEndedRow(
  started: StartedRow,
  outcome: RequestOutcome,
  logContent: boolean,
): EndedRow {
  const { attempts, losses, content } = outcome;
  const row: EndedRow = {
    at: started.at,
    worker: started.worker,
    organization: started.organization,
    key: started.key,
    keyName: started.keyName,
    surface: started.surface,
    model: started.model,
    stream: started.stream,
    status: outcome.status,
    result: outcome.result,
    errorCode: outcome.errorCode ?? null,
    answeredBy: outcome.answeredBy ?? null,
    attempts: attempts.length > MAX_ATTEMPTS ? attempts.slice(0, MAX_ATTEMPTS) : attempts,
    usage: usageSums(outcome),
    estimated: outcome.estimated,
    cost: outcome.cost,
    losses: losses.length > MAX_LOSSES ? losses.slice(0, MAX_LOSSES) : losses,
    overheadUs: outcome.overheadUs,
    firstContentMs: outcome.firstContentMs,
    totalMs: outcome.totalMs,
  };
  if (!logContent || !content) return row;
  return {
    ...row,
    content: {
      request: clip(content.request, MAX_CONTENT),
      response: clip(content.response, MAX_CONTENT),
    },
  };
}

/** What the record says when nobody is left who could tell how the call ended. */
export function toInterruptedRow(started: StartedRow): EndedRow {
  return {
    ...started,
    status: null,
    result: 'interrupted',
    errorCode: 'worker_lost',
    answeredBy: null,
    attempts: [],
    usage: [0, 0, 0, 0, 0, 0, 0, 0],
    estimated: false,
    cost: 0,
    losses: [],
    overheadUs: null,
    firstContentMs: null,
    totalMs: null,
  };
}

export const isEnded = (row: RequestRow): row is EndedRow => 'result' in row;

export function usageSums({ usage }: Pick<RequestOutcome, 'usage'>): number[] {
  return [
    sound(usage.input),
    sound(usage.cacheRead),
    sound(usage.cacheWrite5m),
    sound(usage.cacheWrite1h),
    sound(usage.output),
    sound(usage.reasoning),
    sound(usage.images),
    sound(usage.seconds),
  ];
}

/** JSON can say `1e999` and `-5`. */
const sound = (amount: number): number => (amount > 0 && amount < Infinity ? amount : 0);

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

export function toRequestRecord(id: string, row: RequestRow): RequestRecord {
  const ended = isEnded(row) ? row : undefined;
  const answeredBy = ended?.answeredBy;
  return {
    id,
    created_at: new Date(row.at).toISOString(),
    organization: row.organization,
    key: { id: row.key, name: row.keyName },
    surface: row.surface,
    model: row.model,
    stream: row.stream,
    answered_by: answeredBy
      ? {
          model: answeredBy.model,
          provider: answeredBy.provider,
          upstream_model: answeredBy.upstreamModel,
        }
      : null,
    status: ended?.status ?? null,
    result: ended?.result ?? 'pending',
    error_code: ended?.errorCode ?? null,
    attempts: [...(ended?.attempts ?? [])],
    usage: toUsageRecord(ended?.usage ?? []),
    estimated: ended?.estimated ?? false,
    cost: fromNanos(ended?.cost ?? 0),
    losses: [...(ended?.losses ?? [])],
    overhead_us: ended?.overheadUs ?? null,
    first_content_ms: ended?.firstContentMs ?? null,
    total_ms: ended?.totalMs ?? null,
    ...(ended?.content ? { content: ended.content } : {}),
  };
}

function clip(text: string, length: number): string {
  return text.length > length ? text.slice(0, length) : text;
}
