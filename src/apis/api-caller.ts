import { Buffer } from 'node:buffer';
import { Writable } from 'node:stream';
import { GatewayError } from '../core/errors.ts';
import type { IdSource } from '../core/ids.ts';
import type { ApiMethod } from '../routing/api.ts';
import type { Api } from '../routing/catalog.ts';
import type { RequestOrigin } from '../usage/origin.ts';
import type { Principal } from '../usage/principal.ts';
import { noteRefusal, planApiCall, runApiCall } from './run-api-call.ts';
import type { ApiCallResult, ApiDeps, PlannedApiCall } from './run-api-call.ts';
import type { ApiConsumption } from './settle-api-call.ts';
import { toUriText } from './target.ts';
import { signalClient } from '../surfaces/signal-client.ts';

export interface ApiQuestion {
  /** Admitted already, with its funds looked at; what the call may cost is reserved here. */
  readonly principal: Principal;
  readonly origin?: RequestOrigin | undefined;
  readonly vendor: string;
  /** Below the API's base; a missing first `/` is added. */
  readonly path: string;
  readonly method: ApiMethod;
  /** Query without or with its `?`. */
  readonly query?: string | undefined;
  /** Names in lower case. Default: `content-type: application/json` where there is a body. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Buffer | undefined;
  /** Ends the call and the API's work at once. */
  readonly signal: AbortSignal;
  /** Id of the record. Default: a new one. */
  readonly id?: string | undefined;
  /** Surface as the record names it. Default `api`. */
  readonly surface?: string | undefined;
  /** Receives what the call came to, once that is recorded: one that fails may cost something, too. */
  onSettled?(consumption: ApiConsumption): void;
}

export interface ApiReply extends ApiConsumption {
  /** 2xx, 304 or 4xx. */
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Decoded. */
  readonly body: Buffer;
  /** Id of the record. */
  readonly id: string;
}

/** Calls APIs for parts of the gateway, as `/v1/api` does for clients. */
export interface ApiCaller {
  /** Undefined where no API has the name. */
  find(organization: string, name: string): Pick<Api, 'name' | 'methods'> | undefined;
  /**
   * One call with its whole answer; the record, the limits and the price are those of a client's.
   *
   * @throws GatewayError `not_found`, `method_not_allowed`, `invalid_request` for what the API does
   *   not offer; `api_unreachable`, `api_failed`, `upstream_timeout`, `upstream_interrupted`,
   *   `no_route_succeeded` (the API refuses the gateway's credential), `invalid_upstream_response`
   *   (an answer that is too large), `key_spending_limit`, `organization_spending_limit`,
   *   `unpriced`, `persistence_failed`, `shutting_down`
   */
  call(question: ApiQuestion): Promise<ApiReply>;
}

export interface ApiCallerDeps extends ApiDeps {
  ids: IdSource;
  /** Bytes of an answer. Default 64 MiB. */
  maxAnswerBytes?: number;
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

export function createApiCaller(deps: ApiCallerDeps): ApiCaller {
  return {
    find(_organization, name) {
      const api = deps.catalog().apis.get(name);
      return api && { name: api.name, methods: api.methods };
    },
    async call(question) {
      const { clock } = deps.inference;
      const { principal, body, signal, surface = 'api' } = question;
      const id = question.id ?? deps.ids.next('req');
      const [at, startedAt] = [clock.now(), clock.monotonic()];
      const head = { id, at, startedAt, surface, principal, origin: question.origin };
      const planned = plan(question, { ...head, model: question.vendor }, deps);
      const sink = new Gatherer(deps.maxAnswerBytes ?? MAX_ANSWER_BYTES);
      const own = new AbortController();
      sink.once('error', () => own.abort());
      const result = await runApiCall(
        {
          ...planned,
          ...head,
          headers: { ...(body && JSON_TYPE), ...question.headers },
          body,
          client: signalClient(AbortSignal.any([signal, own.signal])),
          raw: false,
          onBroken: ({ error }) => sink.destroy(error),
        },
        deps,
      );
      return { ...(await gather(result, sink, question)), id };
    },
  };
}

function plan(
  question: ApiQuestion,
  head: Parameters<typeof noteRefusal>[0],
  deps: ApiCallerDeps,
): PlannedApiCall {
  const { vendor, method, principal } = question;
  try {
    const asked = { vendor, method, address: addressOf(question) };
    return planApiCall(asked, principal, deps.catalog());
  } catch (thrown) {
    throw noteRefusal(head, thrown, deps);
  }
}

async function gather(
  { status, headers, body, settled }: ApiCallResult,
  sink: Gatherer,
  question: ApiQuestion,
): Promise<Omit<ApiReply, 'id'>> {
  body?.pipe(sink);
  const { failure, ...consumption } = await settled;
  question.onSettled?.(consumption);
  const error = sink.failure ?? failure?.error;
  if (error) throw error;
  return { status, headers, body: sink.whole(), ...consumption };
}

function addressOf({ path, query = '' }: ApiQuestion): { path: string; search: string } {
  const search = query === '' || query.startsWith('?') ? query : `?${query}`;
  const rooted = path === '' || path.startsWith('/') ? path : `/${path}`;
  return { path: toUriText(rooted, 'utf8'), search: toUriText(search, 'utf8') };
}

/** Gathers an answer up to a limit. */
class Gatherer extends Writable {
  failure: GatewayError | undefined;
  readonly #chunks: Buffer[] = [];
  readonly #limit: number;
  #size = 0;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  whole(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#size += chunk.length;
    if (this.#size > this.#limit) {
      const message = `the answer is larger than ${this.#limit} bytes`;
      this.failure = new GatewayError('invalid_upstream_response', { message, retry: false });
      return done(this.failure);
    }
    this.#chunks.push(chunk);
    done();
  }
}
