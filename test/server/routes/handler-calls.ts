import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createIdSource } from '../../../src/core/ids.ts';
import { createSpools } from '../../../src/core/memory/spool.ts';
import type { CallResult } from '../../../src/inference/types.ts';
import type { CallAnswer, NamedCall } from '../../../src/store/named-call.ts';
import type { KeyFound } from '../../../src/surfaces/gate.ts';
import type { Handler, HttpExchange, Reply } from '../../../src/surfaces/http-exchange.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { bodySource } from '../../support/body-intake.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { RESOURCE_VALUES } from '../../support/value-bounds.ts';
import { principal } from '../../usage/usage-fixtures.ts';

export interface CallOptions {
  readonly method?: string;
  readonly path?: string;
  /** Query with its `?`. */
  readonly search?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON, texts as they are. */
  readonly body?: object | string | undefined;
  readonly named?: NamedCall | undefined;
  readonly response?: ServerResponse;
}

/** An exchange as handlers see it, for a key that the {@link keyring} knows. */
export function exchangeOf(options: CallOptions = {}): HttpExchange {
  const { method = 'GET', path = '/', search = '', headers = {}, body, named } = options;
  const response = options.response ?? openResponse();
  const text = typeof body === 'object' ? JSON.stringify(body) : (body ?? '');
  const bytes = Buffer.from(text);
  const request = Object.assign(Readable.from(bytes.length === 0 ? [] : [bytes]), {
    method,
    headers: {
      authorization: 'Bearer sk-1',
      'content-length': String(bytes.length),
      ...headers,
    },
    complete: true,
    socket: { remoteAddress: '127.0.0.1' },
  }) as unknown as IncomingMessage;
  const source = bodySource(request, response);
  return { id: 'req_1', at: 0, startedAt: 0, response, path, search, ...source, named };
}

/** A response that stays open until it emits `close`. */
export function openResponse(): ServerResponse {
  return Object.assign(new EventEmitter(), {
    closed: false,
    destroyed: false,
  }) as unknown as ServerResponse;
}

/** The answer of a handler that answers whole. */
export async function answerOf(
  handler: Handler | undefined,
  options: CallOptions = {},
): Promise<Pick<Reply, 'status' | 'headers'> & { body: unknown }> {
  if (!handler) throw new Error('nothing handles the call');
  const answer: Reply | CallResult = await handler(exchangeOf(options));
  const { status, headers, body } = answer;
  return { status, body, ...(headers && { headers }) };
}

/** Parts that let in the one key `sk-1`, and count who is still inside. */
export function keyring(of: Partial<Principal> = {}) {
  const inside = { now: 0, ever: 0 };
  /** Holders of the places that are taken. */
  const holders: string[] = [];
  return {
    inside,
    holders,
    lookup: (key: string): KeyFound =>
      key === 'sk-1' ? principal({ concurrencyCap: 1, ...of }) : 'unknown',
    rates: { isPlatformFull: () => false, admitPlatform: () => true, admitKey: () => true },
    concurrency: {
      enter: ({ keyId }: Principal) => {
        let isIn = true;
        inside.now += 1;
        inside.ever += 1;
        holders.push(keyId);
        return () => {
          if (!isIn) return;
          isIn = false;
          inside.now -= 1;
          holders.splice(holders.indexOf(keyId), 1);
        };
      },
    },
    spools: createSpools('unused', createIdSource(createFakeClock())),
    maxBodyBytes: 10_000,
    resourceValues: RESOURCE_VALUES,
    resourceXApiKey: false,
  };
}

/** A call with a name, and the answers that were kept for it. */
export function namedCall() {
  const kept: CallAnswer[] = [];
  const acts: (string | undefined)[] = [];
  const named: NamedCall = {
    earlier: undefined,
    answered: async (answer) => {
      kept.push(answer);
      return [{ type: 'put', key: ['kept', kept.length], value: answer.status }];
    },
    made: async () => [],
    willAct: async (lookUp) => void acts.push(lookUp),
  };
  return { named, kept, acts };
}
