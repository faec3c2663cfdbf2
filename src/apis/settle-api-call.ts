import { Buffer } from 'node:buffer';
import type { Clock } from '../core/time/clock.ts';
import type { GatewayError } from '../core/errors.ts';
import { fromBytes } from '../core/memory/spooled-body.ts';
import type { SpooledBody } from '../core/memory/spooled-body.ts';
import { NO_USAGE } from '../core/usage.ts';
import type { Usage } from '../core/usage.ts';
import { createContentRecorder } from '../inference/content-recorder.ts';
import type { Api } from '../routing/catalog.ts';
import type { AttemptRecord, LedgerEntry, RequestOutcome } from '../usage/ledger/ledger.ts';
import { boundOf, costOf } from '../usage/spend/pricing.ts';
import { isPriced } from '../usage/usage.ts';
import { CLIENT_GONE } from './api-exchange.ts';
import type { ApiFailure } from './api-exchange.ts';
import { createUsageReader } from './usage-reader.ts';
import type { UsageReader } from './usage-reader.ts';

const MAX_ENDPOINT = 200;

/** Consumption of a call. */
export interface ApiConsumption {
  readonly usage: Usage;
  /** True when a price depends on a value that the answer did not give. */
  readonly estimated: boolean;
  /** Nano-dollars. */
  readonly cost: number;
  /** True: its cost is unknown. */
  readonly unpriced: boolean;
}

const NOTHING: ApiConsumption = { usage: NO_USAGE, estimated: false, cost: 0, unpriced: false };

/** Record of a call; filled in as the call goes. */
export class ApiCallRecord {
  readonly attempts: AttemptRecord[] = [];
  readonly #api: Api;
  readonly #startedAt: number;
  readonly #clock: Clock;
  readonly #endpoint: string;
  readonly #content: ReturnType<typeof createContentRecorder> | undefined;
  #sentAt: number | undefined;
  #answeredAt: number | undefined;
  #reader: UsageReader | undefined;

  /** `endpoint` is method and path below the base, without the query: a query may hold anything. */
  constructor(api: Api, { clock, startedAt, endpoint, keepContent }: RecordOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#startedAt = startedAt;
    this.#endpoint = endpoint.slice(0, MAX_ENDPOINT);
    this.#content = keepContent ? createContentRecorder() : undefined;
  }

  /** The body as it is sent, of which the record keeps a part where it keeps content. */
  watch(body: SpooledBody | undefined): SpooledBody | undefined {
    if (!body || !this.#content) return body;
    return { length: body.length, open: (start, end) => this.#tee(body.open(start, end)) };
  }

  sent(): void {
    this.#sentAt ??= this.#clock.monotonic();
  }

  attempted(status: number | null, outcome: string, ms: number): void {
    const { name } = this.#api;
    this.attempts.push({
      provider: name,
      model: this.#endpoint,
      status,
      outcome,
      ms: Math.round(ms),
    });
  }

  /** The head of an answer that the client gets; only one of success costs anything. */
  answered(status: number, contentType: string | undefined): void {
    this.#answeredAt = this.#clock.monotonic();
    if (status < 300) this.#reader = createUsageReader(this.#api, contentType);
  }

  passed(chunk: Buffer): void {
    this.#reader?.push(chunk);
    this.#content?.add(chunk);
  }

  /** Settles a call whose answer the client got, or a part of it. */
  settleAnswer(
    entry: LedgerEntry,
    { status, failure }: { status: number; failure: ApiFailure | undefined },
  ): ApiConsumption {
    const consumption = this.#consumed(status);
    const isGone = failure?.reason === CLIENT_GONE;
    const result = isGone ? 'aborted' : failure ? 'interrupted' : status < 400 ? 'ok' : 'error';
    const errorCode = isGone ? undefined : (failure?.reason ?? codeOf(status));
    this.#settle(entry, { status: isGone ? 499 : status, result, errorCode }, consumption);
    return consumption;
  }

  /** Settles a call of which the client got nothing but an error. */
  settleError(entry: LedgerEntry, error: GatewayError, isGone: boolean): void {
    const told = isGone
      ? { status: 499, result: 'aborted' as const, errorCode: undefined }
      : { status: error.status, result: 'error' as const, errorCode: error.code };
    this.#settle(entry, told, NOTHING);
  }

  #consumed(status: number): ApiConsumption {
    if (status >= 300) return NOTHING;
    const counted = this.#reader?.end();
    const usage = counted ?? NO_USAGE;
    const estimated = this.#reader !== undefined && counted === undefined;
    const { pricing } = this.#api;
    return { usage, estimated, cost: costOf(usage, pricing), unpriced: !isPriced(pricing) };
  }

  #settle(
    entry: LedgerEntry,
    {
      errorCode,
      ...told
    }: Pick<RequestOutcome, 'status' | 'result'> & { errorCode: string | undefined },
    consumption: ApiConsumption,
  ): void {
    const now = this.#clock.monotonic();
    const { name } = this.#api;
    entry.settle({
      ...told,
      ...(errorCode === undefined ? {} : { errorCode }),
      ...(this.#answeredAt === undefined
        ? {}
        : { answeredBy: { model: name, provider: name, upstreamModel: this.#endpoint } }),
      attempts: this.attempts,
      ...consumption,
      losses: [],
      overheadUs: Math.round(((this.#sentAt ?? now) - this.#startedAt) * 1000),
      firstContentMs:
        this.#answeredAt === undefined ? null : Math.round(this.#answeredAt - this.#startedAt),
      totalMs: Math.round(now - this.#startedAt),
      ...(this.#content ? { content: this.#content.take() } : {}),
    });
  }

  async *#tee(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.#content?.asked(chunk);
      yield chunk;
    }
  }
}

export interface RecordOptions {
  clock: Clock;
  /** Clock.monotonic() at arrival. */
  startedAt: number;
  endpoint: string;
  /** Config: log.content. */
  keepContent: boolean;
}

/** The most that a call can be expected to cost, in nano-dollars. */
export function apiBoundOf({ usage, pricing }: Api): number {
  const most = (counts: keyof Usage): number =>
    usage.find((one) => one.counts === counts)?.most ?? 0;
  return boundOf({
    inputBound: most('input'),
    outputBound: most('output'),
    images: most('images'),
    seconds: most('seconds'),
    pricing,
  });
}

export function toSpooled(body: Buffer | SpooledBody | undefined): SpooledBody | undefined {
  return Buffer.isBuffer(body) ? fromBytes(body) : body;
}

function codeOf(status: number): string | undefined {
  return status >= 400 ? 'upstream_rejected' : undefined;
}
