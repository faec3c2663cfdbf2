import { expect, it } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import type { Client, ClientOptions } from '../../src/client/create-client.ts';
import { collect } from '../../src/client/http/pages.ts';
import type { Sending } from '../../src/client/http/transport.ts';
import { instantClock } from './instant-clock.ts';

/** One call as it went out, with its address below the base URL. */
export interface Sent extends Sending {
  readonly target: string;
}

/** What a call is answered: JSON with status 200, or a whole response; an error breaks the connection. */
export type Answer = Response | Error | object;

export const BASE = 'http://gateway.test';

/** A client whose calls are written down and answered in turn, the last answer for good. */
export function connect(answers: readonly Answer[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = [];
  const clock = instantClock();
  const client = createClient({
    baseUrl: BASE,
    clock,
    random: () => 0,
    transport: async (url, sending) => {
      const answer = answers[Math.min(sent.length, answers.length - 1)];
      sent.push({ ...sending, target: url.slice(BASE.length) });
      sending.signal.throwIfAborted();
      if (answer instanceof Error) throw answer;
      return answer instanceof Response ? answer.clone() : Response.json(answer);
    },
    ...options,
  });
  return { client, clock, sent };
}

export const failed = (status: number, headers: Record<string, string> = {}): Response =>
  Response.json({ error: { code: 'no_luck', message: 'no luck' } }, { status, headers });

/** A stream of these texts; with `isCut` the connection breaks behind them. */
export function streamOf(texts: readonly string[], isCut = false): ReadableStream<Uint8Array> {
  const parts = texts.map((text) => new TextEncoder().encode(text));
  return new ReadableStream({
    pull(controller) {
      const part = parts.shift();
      if (part) controller.enqueue(part);
      else if (isCut) controller.error(new TypeError('terminated'));
      else controller.close();
    },
  });
}

export interface SimpleCall {
  /** Name of the method, for the title. */
  name: string;
  call: (client: Client, signal?: AbortSignal) => Promise<unknown>;
  method: string;
  target: string;
  body?: unknown;
  /** What the server answers. */
  answer: Record<string, unknown>;
  /** What the caller gets, where it is not the answer. */
  gives?: unknown;
  /** Answers that lack what the caller relies on. */
  refused: readonly unknown[];
}

/** The tests of calls that send one request and give its answer. */
export function testCalls(calls: readonly SimpleCall[]): void {
  it.each(calls)('$name sends one request and gives its answer', async (row) => {
    const { client, sent } = connect([row.answer]);
    const gives = 'gives' in row ? row.gives : row.answer;
    expect(await row.call(client)).toEqual(gives);
    const told = sent.map(({ method, target, body }) => ({ method, target, body: parsed(body) }));
    expect(told).toEqual([{ method: row.method, target: row.target, body: row.body }]);
  });

  it.each(calls)('$name refuses an answer of another shape', async ({ call, refused }) => {
    for (const answer of [[], ...refused]) {
      const { client } = connect([Response.json(answer)]);
      await expect(call(client)).rejects.toMatchObject({ code: 'invalid_response' });
    }
  });

  it.each(calls)('$name ends with its signal', async ({ call, answer }) => {
    const { client } = connect([answer]);
    await expect(call(client, AbortSignal.abort())).rejects.toMatchObject({ code: 'aborted' });
  });

  it.each(calls)('$name repeats only what does no harm twice', async ({ call, method }) => {
    const { client, sent } = connect([failed(503)]);
    await expect(call(client)).rejects.toMatchObject({ code: 'no_luck', status: 503 });
    expect(sent).toHaveLength(['POST', 'PATCH'].includes(method) ? 1 : 4);
  });
}

export interface ListCall {
  name: string;
  call: (client: Client, signal?: AbortSignal) => AsyncGenerator<{ id: string }, unknown>;
  /** Targets of the first and the second page, whose cursor is `p 2`. */
  targets: readonly [string, string];
  item: { id: string; [field: string]: unknown };
  /** Items that lack what the caller relies on. */
  refused: readonly unknown[];
}

/** The tests of lists that are read page by page. */
export function testLists(lists: readonly ListCall[]): void {
  const pagesOf = (item: object) => [
    { data: [item], next_page: 'p 2' },
    { data: [{ ...item, id: 'second' }], next_page: null },
  ];

  it.each(lists)('$name follows all pages', async ({ call, targets, item }) => {
    const { client, sent } = connect(pagesOf(item));
    expect(await collect(call(client))).toEqual([item, { ...item, id: 'second' }]);
    expect(sent.map(({ method, target }) => `${method} ${target}`)).toEqual(
      targets.map((target) => `GET ${target}`),
    );
  });

  it.each(lists)('$name fetches no page that nobody asks for', async ({ call, item }) => {
    const { client, sent } = connect(pagesOf(item));
    expect(await collect(call(client), 1)).toEqual([item]);
    expect(sent).toHaveLength(1);
  });

  it.each(lists)('$name refuses a page with an item of another shape', async (row) => {
    for (const data of row.refused.map((item) => [row.item, item])) {
      const { client } = connect([{ data }]);
      await expect(collect(row.call(client))).rejects.toMatchObject({ code: 'invalid_response' });
    }
  });

  it.each(lists)('$name ends with its signal', async ({ call, item }) => {
    const { client } = connect(pagesOf(item));
    const items = collect(call(client, AbortSignal.abort()));
    await expect(items).rejects.toMatchObject({ code: 'aborted' });
  });
}

/** The same record without one member each. */
export function without(record: Record<string, unknown>, ...names: string[]): unknown[] {
  return names.map((name) => ({ ...record, [name]: undefined }));
}

function parsed(body: string | undefined): unknown {
  return body === undefined ? undefined : JSON.parse(body);
}
