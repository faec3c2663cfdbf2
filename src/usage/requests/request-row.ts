import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import type {
  AttemptRecord,
  AttemptVerdict,
  Estimate,
  RequestOutcome,
  RequestStart,
} from '../ledger/ledger.ts';
import type { RequestOrigin } from '../origin.ts';
import type { PayingKey } from '../principal.ts';
import { toLimitRow } from './refused-by.ts';
import type { LimitRow } from './refused-by.ts';

const MAX_ATTEMPTS = 32;
const MAX_LOSSES = 100;
const MAX_TEXT = 500;
/** Characters kept of each side's content. */
const MAX_CONTENT = 256 * 1024;

/**
 * Row that is stored when a request starts. Rows are tuples: half the bytes of an object, and half
 * the time to write it, at one row per request.
 */
export type StartRow = readonly [
  at: number,
  organization: string,
  key: string,
  keyName: string,
  surface: string,
  model: string,
  stream: boolean,
  /** Absent or null where the model was asked for by its own name. */
  alias?: string | null,
  /** Absent or null where nothing is known of it, and in rows of older versions. */
  origin?: RequestOrigin | null,
  /** Nano-dollars held at admission; absent where no limit held any, and in rows of older versions. */
  reserved?: number,
];

/** One attempt; rows of older versions end with `ms` or `cost`. */
export type AttemptRow = readonly [
  provider: string,
  model: string,
  status: number | null,
  outcome: string,
  ms: number,
  /** Usage as in {@link EndRow}; absent where nothing was discarded. */
  usage?: readonly number[] | null,
  cost?: number,
  cause?: string | null,
  verdict?: AttemptVerdict,
  credential?: AttemptRecord['credential'],
];

/** Index in {@link StartRow}. */
export const ORIGIN = 8;
/** Indexes in {@link EndRow}. */
const CONTENT = 13;
const UNPRICED = 14;
/** Indexes of usage in the amounts of {@link sumsOf}. */
const FIRST_USAGE = 4;
const USAGE_PLACES = 8;

interface Content {
  readonly request: string;
  readonly response: string;
}

/** The final record; a member that is unknown after a crash is null. */
export type EndRow = readonly [
  start: StartRow,
  status: number | null,
  result: RequestOutcome['result'],
  errorCode: string | null,
  answeredBy: readonly [model: string, provider: string, upstreamModel: string] | null,
  attempts: readonly AttemptRow[],
  /** input, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning, images, seconds. */
  usage: readonly number[],
  estimated: boolean,
  cost: number,
  losses: readonly string[],
  overheadUs: number | null,
  firstContentMs: number | null,
  totalMs: number | null,
  content: Content | null,
  /** 1 when the price is unknown; rows of older versions end before. */
  unpriced?: 0 | 1,
  /** Limit that refused it; absent where none did, and in rows of older versions. */
  limit?: LimitRow,
];

export interface StartFacts extends Pick<
  RequestStart,
  'at' | 'surface' | 'model' | 'alias' | 'stream' | 'origin'
> {
  readonly principal: PayingKey;
}

/**
 * Each form is written out, since spread arrays take up to three times the memory.
 *
 * @param reserved nano-dollars that limits hold for it
 */
export function toStartRow(facts: StartFacts, reserved = 0): StartRow {
  const { at, principal, surface, alias, stream, origin = null } = facts;
  const { organizationId: owner, keyId } = principal;
  const [keyName, model] = [clip(principal.keyName, MAX_TEXT), clip(facts.model, MAX_TEXT)];
  const named = alias === undefined ? null : clip(alias, MAX_TEXT);
  if (reserved > 0)
    return [at, owner, keyId, keyName, surface, model, stream, named, origin, reserved];
  if (origin !== null) return [at, owner, keyId, keyName, surface, model, stream, named, origin];
  if (named !== null) return [at, owner, keyId, keyName, surface, model, stream, named];
  return [at, owner, keyId, keyName, surface, model, stream];
}

/** The row of a call that was refused: its request was never held. */
export function withoutReserve(row: StartRow): StartRow {
  const [at, organization, key, keyName, surface, model, stream, alias = null, origin = null] = row;
  return [at, organization, key, keyName, surface, model, stream, alias, origin];
}

/** Every part is bounded: one oversized record must not hold up the commit of all others. */
export function toEndRow(start: StartRow, outcome: RequestOutcome, logContent: boolean): EndRow {
  const { answeredBy, attempts, losses, content, limit } = outcome;
  const row: EndRow = [
    start,
    outcome.status,
    outcome.result,
    outcome.errorCode ?? null,
    answeredBy ? [answeredBy.model, answeredBy.provider, answeredBy.upstreamModel] : null,
    attempts.slice(0, MAX_ATTEMPTS).map(toAttemptRow),
    usageSums(outcome),
    outcome.estimated,
    outcome.cost,
    losses.length > MAX_LOSSES ? losses.slice(0, MAX_LOSSES) : losses,
    outcome.overheadUs,
    outcome.firstContentMs,
    outcome.totalMs,
    logContent && content ? clipContent(content) : null,
    outcome.unpriced ? 1 : 0,
  ];
  return limit ? withLimitRow(row, toLimitRow(limit)) : row;
}

/** Few calls are refused: the rows of the others are written once. */
function withLimitRow(row: EndRow, limit: LimitRow): EndRow {
  return [...row, limit] as unknown as EndRow;
}

/** Record of a call whose end is unknown after a crash. `null`: it is charged elsewhere. */
export function toInterruptedRow(start: StartRow, estimate: Estimate | null): EndRow {
  const { input, output, cost } = estimate ?? { input: 0, output: 0, cost: 0 };
  const usage = usageSums({ usage: { ...NO_USAGE, input, output } });
  const unknown = [null, null, null, null] as const;
  const isEstimated = estimate !== null;
  return [
    start,
    null,
    'interrupted',
    'worker_lost',
    null,
    [],
    usage,
    isEstimated,
    cost,
    [],
    ...unknown,
  ];
}

/** Characters of its content. */
export function contentIn(row: EndRow): number {
  const content = row[CONTENT];
  return content ? content.request.length + content.response.length : 0;
}

/** The record with another cost, which is an estimate. */
export function withCost(row: EndRow, cost: number): EndRow {
  const [start, status, result, errorCode, answeredBy, attempts, usage, , , ...rest] = row;
  return [start, status, result, errorCode, answeredBy, attempts, usage, true, cost, ...rest];
}

/**
 * Amounts that a record adds to the sums of its day: requests, errors, estimated, cost, then usage, and
 * at the end the calls of unknown price.
 */
export function sumsOf(row: EndRow): number[] {
  const [, , result, , , , usage, estimated, cost] = row;
  const failed = result === 'error' || result === 'interrupted' ? 1 : 0;
  const sums = [1, failed, estimated ? 1 : 0, cost, 0, 0, 0, 0, 0, 0, 0, 0, row[UNPRICED] ?? 0];
  for (let place = 0; place < USAGE_PLACES; place++) sums[FIRST_USAGE + place] = usage[place] ?? 0;
  return sums;
}

export function usageSums({ usage }: { readonly usage: Usage }): number[] {
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

function toAttemptRow(attempt: AttemptRecord): AttemptRow {
  const { provider, model, status, outcome, ms, discarded, cause, verdict, credential } = attempt;
  const row = [provider, model, status, outcome, ms] as const;
  // Nearly all attempts are answers, whose verdict goes without saying.
  const isPlain =
    (cause ?? credential) === undefined && (verdict === undefined || outcome === 'ok');
  if (isPlain) return discarded ? [...row, usageSums(discarded), discarded.cost] : row;
  const told = [cause === undefined ? null : clip(cause, MAX_TEXT), verdict] as const;
  const long = [
    ...row,
    discarded ? usageSums(discarded) : null,
    discarded?.cost ?? 0,
    ...told,
  ] as const;
  return credential ? [...long, credential] : long;
}

function clipContent({ request, response }: Content): Content {
  return { request: clip(request, MAX_CONTENT), response: clip(response, MAX_CONTENT) };
}

function clip(text: string, length: number): string {
  return text.length > length ? text.slice(0, length) : text;
}
