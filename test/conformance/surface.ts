import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../src/providers/mock/mock-server.ts';
import { verifies } from '../requirements.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { askRaw, openRaw } from '../support/raw-client.ts';
import type { RawAnswer } from '../support/raw-client.ts';

/** What a public inference family must say of itself to be held to the rules that all share. */
export interface SurfaceRow {
  name: string;
  /** Path with its query. */
  path(model: string, stream: boolean): string;
  /** A body whose answer by the mock is `You said: hello`, with members that nobody knows. */
  body(model: string, stream: boolean): string;
  /** The part of the answer that the mock wrote. */
  textOf(body: unknown): string;
  /** Absent where the family has no streams. */
  stream?: {
    textOf(events: string): string;
    /** What the last event of a complete stream holds, and no broken one. */
    ending: string;
    /** True for a text that ends with the family's in-band error. */
    endsInError(events: string): boolean;
  };
  /** The message of a body in the family's error shape; undefined when it has another shape. */
  errorMessage(body: unknown): string | undefined;
  /** True: a missing key is answered with a flat body. */
  flatAuth: boolean;
  /** Status when every candidate answers 429. */
  limitedStatus: number;
  /** Status when every candidate answers 401. */
  unauthorizedStatus: number;
  /** Requirement ids by the case that proves them for this family. */
  ids: Partial<Record<SurfaceCase, readonly string[]>>;
}

export type SurfaceCase =
  | 'answer'
  | 'stream'
  | 'unknown model'
  | 'invalid JSON'
  | 'provider 400'
  | 'every 429'
  | 'every 401'
  | 'every 503'
  | 'unreadable answer'
  | 'cut stream'
  | 'candidate order';

const PREFIX = 'conformance';
const RULES = [
  { match: { model: 'down' }, reply: { status: 503, error: { message: 'overloaded' } } },
  { match: { model: 'limited' }, reply: { status: 429, retry_after: 7 } },
  { match: { model: 'refused' }, reply: { status: 401, error: { message: 'bad key' } } },
  { match: { model: 'invalid' }, reply: { status: 400, error: { message: 'not like this' } } },
  { match: { model: 'broken' }, reply: { malformed: true } },
  { match: { model: 'cut' }, reply: { text: 'one two three four', cut_after: 2 } },
  { match: { model: 'hung' }, reply: { delay_ms: 60_000 } },
];

/** A model for each fault, and one whose first route has it and whose second is healthy. */
function config(upstream: string): object {
  const faults = RULES.map(({ match }) => match.model);
  const provider = (name: string): object => ({
    name,
    type: 'custom',
    base_url: `${upstream}/v1`,
    auth: { type: 'none' },
    protocols: Object.fromEntries(
      ['chat', 'responses', 'embeddings', 'images'].map((p) => [p, true]),
    ),
  });
  const route = (name: string, priority = 0): object => ({
    provider: name === 'echo' ? 'healthy' : `p-${name}`,
    upstream_model: name,
    priority,
  });
  return {
    providers: [provider('healthy'), ...faults.map((name) => provider(`p-${name}`))],
    models: [
      { name: `${PREFIX}/echo`, routes: [route('echo')] },
      ...faults.flatMap((name) => [
        { name: `${PREFIX}/${name}`, routes: [route(name)] },
        { name: `${PREFIX}/${name}-then-echo`, routes: [route(name), route('echo', 1)] },
      ]),
    ],
  };
}

/** Holds a family to what all of them promise, over real sockets. */
export function testSurface(row: SurfaceRow): void {
  let mock: MockServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    mock = await startMockServer({ cassette: { rules: RULES } });
    gateway = await startGateway(config(mock.url));
  });
  afterAll(async () => {
    await gateway.stop();
    await mock.close();
  });

  const ask = (name: string, { stream = false, key = gateway.clientKey, body = '' } = {}) =>
    askRaw(gateway.url + row.path(`${PREFIX}/${name}`, stream), {
      ...(key === '' ? {} : { key }),
      body: body || row.body(`${PREFIX}/${name}`, stream),
    });
  const proves = (one: SurfaceCase, title: string): string =>
    verifies(...((row.ids[one] ?? []) as [string]), title);
  const json = ({ body }: RawAnswer): unknown => JSON.parse(body.toString('utf8'));
  const callsOf = (model: string) => mock.engine.calls().filter((call) => call.model === model);

  /** Every error of the family: its status, its shape, one request id under both names. */
  const expectError = (answer: RawAnswer, status: number): string => {
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    expect(answer.headers['request-id']).toBe(answer.headers['x-request-id']);
    const message = row.errorMessage(json(answer));
    expect(message).toBeTypeOf('string');
    return message as string;
  };

  describe(`${row.name} answers`, () => {
    it(proves('answer', 'as its protocol does, under a request id of its own'), async () => {
      const answer = await ask('echo');
      expect(answer.status).toBe(200);
      expect(row.textOf(json(answer))).toBe('You said: hello');
      expect(answer.headers['x-request-id']).toMatch(/^req_/);
      expect(answer.headers['request-id']).toBe(answer.headers['x-request-id']);
    });

    it(proves('candidate order', 'from the next candidate when one fails'), async () => {
      for (const name of ['down', 'limited', 'refused', 'broken']) {
        const answer = await ask(`${name}-then-echo`);
        expect([name, answer.status]).toEqual([name, 200]);
        expect(row.textOf(json(answer))).toBe('You said: hello');
      }
    });

    it('sends the provider what the client sent, but for the model', async () => {
      const sent = row.body(`${PREFIX}/echo`, false);
      await ask('echo');
      expect(mock.engine.calls().at(-1)?.body.toString('utf8')).toBe(
        sent.replace(`"${PREFIX}/echo"`, '"echo"'),
      );
    });
  });

  describe(`${row.name} refuses`, () => {
    it('a request without a key and asks nobody', async () => {
      const before = mock.engine.calls().length;
      const answer = await ask('echo', { key: '' });
      expect(answer.status).toBe(401);
      const message = 'missing API key in Authorization header';
      if (row.flatAuth) expect(json(answer)).toEqual({ error: message });
      else expect(row.errorMessage(json(answer))).toBe(message);
      expect(mock.engine.calls()).toHaveLength(before);
    });

    it(proves('unknown model', 'a model that nobody configured'), async () => {
      expect(expectError(await ask('nothing'), 404)).toContain(`${PREFIX}/nothing`);
    });

    it(proves('invalid JSON', 'a body that is not a JSON object'), async () => {
      for (const body of ['{"model":', '[]', 'null', '"text"', '{} {}', '\u0000']) {
        expectError(await ask('echo', { body }), 400);
      }
    });

    it(
      proves('provider 400', "with the provider's own words what the provider refuses"),
      async () => {
        expect(expectError(await ask('invalid-then-echo'), 400)).toBe('not like this');
      },
    );
  });

  describe(`${row.name} fails`, () => {
    it(proves('every 503', 'with 503 when every candidate is down'), async () => {
      expectError(await ask('down'), 503);
    });

    it(proves('every 429', 'without a retry header when every candidate is limited'), async () => {
      const answer = await ask('limited');
      expectError(answer, row.limitedStatus);
      expect(
        Object.keys(answer.headers).filter((name) => /retry-after|ratelimit/.test(name)),
      ).toEqual([]);
    });

    it(proves('every 401', "without blaming the caller's key for the provider's"), async () => {
      expectError(await ask('refused'), row.unauthorizedStatus);
    });

    it(proves('unreadable answer', 'with 502 when no answer can be read'), async () => {
      expectError(await ask('broken'), 502);
    });

    it('within half a second upstream when the client leaves', async () => {
      const left = new AbortController();
      const before = callsOf('hung').length;
      const gone = gateway
        .call('POST', row.path(`${PREFIX}/hung`, false), {
          body: row.body(`${PREFIX}/hung`, false),
          signal: left.signal,
        })
        .catch(() => undefined);
      const call = await eventually(() => callsOf('hung')[before]);
      left.abort();
      await gone;
      await eventually(() => call.outcome === 'aborted', 500);
    });
  });

  const { stream } = row;
  if (!stream) return;
  describe(`${row.name} streams`, () => {
    it(proves('stream', 'what it would have answered whole, to a proper end'), async () => {
      const answer = await ask('echo', { stream: true });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toContain('text/event-stream');
      const events = answer.body.toString('utf8');
      expect(stream.textOf(events)).toBe('You said: hello');
      expect(events.split(stream.ending)).toHaveLength(2);
      expect(events.trimEnd().split('\n').at(-1)).toContain(stream.ending);
    });

    it('from the next candidate when one fails before its content', async () => {
      for (const name of ['down', 'limited', 'refused']) {
        const answer = await ask(`${name}-then-echo`, { stream: true });
        expect([name, answer.status]).toEqual([name, 200]);
        expect(stream.textOf(answer.body.toString('utf8'))).toBe('You said: hello');
      }
    });

    it('an error and no proper end when the provider breaks off, and asks nobody else', async () => {
      const before = callsOf('echo').length;
      const opened = await openRaw(gateway.url + row.path(`${PREFIX}/cut-then-echo`, true), {
        key: gateway.clientKey,
        body: row.body(`${PREFIX}/cut-then-echo`, true),
      });
      await opened.ended;
      expect(opened.status).toBe(200);
      expect(stream.endsInError(opened.text())).toBe(true);
      expect(opened.text()).not.toContain(stream.ending);
      expect(callsOf('echo')).toHaveLength(before);
    });

    it('nothing but a plain error when every candidate fails', async () => {
      expectError(await ask('down', { stream: true }), 503);
    });
  });
}
