import { isJSONRPCRequest, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { FetchLike, JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { stringifyWithRaw } from '../../core/json/raw.ts';
import type { Clock, Timer } from '../../core/time/clock.ts';
import { boundedFetch, eventBefore } from './bounded-fetch.ts';
import type { Asked, BoundedFetchOptions } from './bounded-fetch.ts';
import { hideResult } from './modern-calls.ts';
import { ToolServerError } from './tool-server.ts';
import type { ToolTransport } from './tool-transport.ts';

export interface HttpTransportOptions extends Omit<BoundedFetchOptions, 'onEnd' | 'textOf'> {
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/** The SDK does not report which call it gives up, so lost streams are resumed here. */
const NO_RECONNECTION = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 0,
};
/** Attempts in a row to come back to the stream of a call. */
const MAX_RETRIES = 3;
/** Time before each where the server does not say when to come back, and the least where it does. */
const RETRY_MS = 1_000;
const MIN_RETRY_MS = 100;
/** A server may take so long to forget its session. */
const FAREWELL_MS = 2_000;

/** Code of JSON-RPC for a call that was lost on its way; servers have it for errors of their own, too. */
const LOST = -32_000;

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/** A request without its answer. */
interface OpenCall {
  readonly id: RequestId;
  /** The request as it is sent. */
  readonly text: string;
  /** Id of the last event of its stream; a resumed stream continues after it. */
  lastEventId?: string;
  /** The one after which it was resumed last. */
  resumedBehind?: string;
  timer?: Timer;
}

/**
 * A server over streamable HTTP. To that of the SDK it adds that a call whose answer breaks off is over:
 * there, it would be waited for until its deadline. Where the stream had an event with an id, the call is
 * over when the server cannot be come back to.
 */
export class HttpTransport extends StreamableHTTPClientTransport implements ToolTransport {
  fault: ToolServerError | undefined;
  readonly #clock: Clock;
  /** Calls by the text of their ids: some servers answer to a number with its text. */
  readonly #calls = new Map<string, OpenCall>();

  /** The client adds its own to it. */
  override onmessage: StreamableHTTPClientTransport['onmessage'] = (message) => {
    hideResult(message, this.protocolVersion);
    if ('id' in message && !('method' in message)) this.#forget(message.id);
  };

  constructor(url: URL, { headers, clock, ...bounds }: HttpTransportOptions) {
    const own: Partial<Pick<BoundedFetchOptions, 'onEnd' | 'textOf'>> = {};
    const onEnd: BoundedFetchOptions['onEnd'] = (...end) => own.onEnd?.(...end);
    const textOf: BoundedFetchOptions['textOf'] = (request) => own.textOf?.(request);
    super(url, {
      fetch: streamsAlone(boundedFetch({ ...bounds, textOf, onEnd })),
      requestInit: { headers: { ...headers } },
      reconnectionOptions: NO_RECONNECTION,
    });
    this.#clock = clock;
    own.onEnd = (asked, thrown) => this.#onEnd(asked, thrown);
    own.textOf = (request) => this.#calls.get(String(request))?.text;
  }

  override async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if ('method' in message && message.method === 'notifications/cancelled')
      this.#forget(message.params?.['requestId'] as RequestId | undefined);
    if (!isJSONRPCRequest(message)) return super.send(message, options);
    const { id } = message;
    const call: OpenCall = { id, text: stringifyWithRaw(message) };
    this.#calls.set(String(id), call);
    try {
      await super.send(message, { ...options, onresumptiontoken: noteEvents(call) });
    } catch (thrown) {
      this.#forget(id);
      throw thrown;
    }
  }

  /** Ends the server's session first, where it has one. */
  override async close(): Promise<void> {
    const isOpen = this.fault === undefined;
    this.fault ??= lost();
    for (const id of this.#calls.keys()) this.#forget(id);
    if (isOpen && this.sessionId !== undefined) await this.#sayFarewell();
    await super.close();
  }

  /** Comes back for calls without an answer where one can still come, and ends the others with an error. */
  #onEnd({ requests, lastEventId }: Asked, thrown: unknown): void {
    // Bytes that have arrived are read first.
    setImmediate(() => {
      for (const call of this.#calls.values()) {
        const isIts =
          requests.includes(call.id) ||
          (lastEventId !== undefined && call.resumedBehind === lastEventId);
        if (!isIts) continue;
        if (thrown instanceof ToolServerError) this.#fail(call, thrown);
        else this.#comeBack(call, 1);
      }
    });
  }

  #comeBack(call: OpenCall, attempt: number): void {
    const { lastEventId } = call;
    if (lastEventId === undefined || attempt > MAX_RETRIES) return this.#fail(call, lost());
    const resume = async (): Promise<void> => {
      call.resumedBehind = lastEventId;
      await this.resumeStream(lastEventId, { onresumptiontoken: noteEvents(call) }).catch(() => {
        if (this.#calls.has(String(call.id))) this.#comeBack(call, attempt + 1);
      });
    };
    call.timer = this.#clock.setTimeout(() => void resume(), this.#retryMs);
  }

  get #retryMs(): number {
    // The SDK reads it from the stream and shows it nowhere else.
    const told: unknown = this['_serverRetryMs'];
    return typeof told === 'number' ? Math.max(told, MIN_RETRY_MS) : RETRY_MS;
  }

  #fail({ id }: OpenCall, fault: ToolServerError): void {
    const error = { code: LOST, message: fault.message, data: fault };
    this.onmessage?.({ jsonrpc: '2.0', id, error });
  }

  #forget(id: RequestId | undefined): void {
    const key = String(id);
    this.#calls.get(key)?.timer?.cancel();
    this.#calls.delete(key);
  }

  async #sayFarewell(): Promise<void> {
    const overdue = new Promise<void>((resolve) => {
      this.#clock.setTimeout(resolve, FAREWELL_MS);
    });
    await Promise.race([this.terminateSession().catch(() => undefined), overdue]);
  }
}

function lost(): ToolServerError {
  return new ToolServerError('connection', 'the connection to the server was lost');
}

function noteEvents(call: OpenCall): (id: string) => void {
  return (id) => void (call.lastEventId = id);
}

/** Refuses what answers to a call that comes back and is no stream: the SDK would wait for one. */
function streamsAlone(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (eventBefore(init) === undefined || (response.ok && isStream)) return response;
    await response.body?.cancel();
    throw lost();
  };
}
