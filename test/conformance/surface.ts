import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Protocol } from '../../src/protocols/registry.ts';
import type { MockCall } from '../../src/providers/mock/tape/journal.ts';
import { startMockServer } from '../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../src/providers/mock/mock-server.ts';
import type { ModelType } from '../../src/core/model-type.ts';
import { StoreError } from '../../src/store/store.ts';
import type { RequestRecord } from '../../src/usage/requests/request-record.ts';
import { verifies } from '../requirements.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { askRaw, openRaw } from '../support/raw-client.ts';
import type { RawAnswer } from '../support/raw-client.ts';

/** How a key travels: headers, or a piece of the query. */
export interface CarriedKey {
  headers?: Record<string, string>;
  query?: string;
}

/** What a public inference family must say of itself to be held to the rules that all share. */
export interface SurfaceRow {
  /** As records name the surface. */
  name: string;
  protocol: Protocol;
  /** Where the mock serves the protocol, below its origin. */
  upstreamPath: string;
  /** Default `llm`. */
  modelType?: ModelType;
  /** Path with its query. */
  path(model: string, stream: boolean): string;
  /** A body whose answer by the mock holds `said`, with members that nobody knows. */
  body(model: string, stream: boolean): string | Buffer;
  /** Default `application/json`. */
  contentType?: string;
  /** What the provider gets; default: the same bytes with its own model name. */
  sent?(call: MockCall): string;
  /** Ways to carry a key, the one that decides first in front. */
  carriers: readonly ((key: string) => CarriedKey)[];
  /** The part of the answer that the mock wrote. */
  textOf(body: unknown): string;
  /** Default `You said: hello`. */
  said?: string;
  /** What the call `counted` costs, by the price of each of its token classes; absent: not by token. */
  cost?: string;
  /** True: a call that may have been billed is not made a second time. Default false. */
  once?: boolean;
  /**
   * Where the task that an answer names is looked at: the call itself costs nothing, its price is charged
   * with a record of its own when the task is done. Absent: the call is charged.
   */
  taskPath?(body: unknown): string;
  /** Absent where the family has no streams. */
  stream?: {
    /** Default `text/event-stream`. */
    contentType?: string;
    textOf(events: string): string;
    /** True for a text that ends as the protocol says, and for no broken one. */
    isWhole(events: string): boolean;
    /** True for a text that ends with the family's in-band error. */
    endsInError(events: string): boolean;
  };
  /** The message of a body in the family's error shape; undefined when it has another shape. */
  errorMessage(body: unknown): string | undefined;
  /** True: credential, limit and scope failures are answered with a flat body. */
  flat: boolean;
  statuses: {
    unknownModel: 400 | 404;
    noRoute: 400 | 404;
    keySpent: 402 | 403;
    /** When every candidate answers 429, 401, 403 or 500, or what nobody can read. */
    limited: 429 | 503;
    unauthorized: 401 | 503;
    forbidden: 403 | 503;
    failed: 500 | 503;
    unreadable: 502 | 503;
  };
  /** Requirement ids by the case that proves them for this family. */
  ids?: Partial<Record<SurfaceCase, readonly string[]>>;
}

export type SurfaceCase =
  | 'answer'
  | 'faithful'
  | 'stream'
  | 'carriers'
  | 'no key'
  | 'refused callers'
  | 'key spent'
  | 'organization spent'
  | 'token classes'
  | 'estimate'
  | 'concurrent spending'
  | 'unknown model'
  | 'no route'
  | 'invalid JSON'
  | 'provider 400'
  | 'every 429'
  | 'every 401'
  | 'every 403'
  | 'every 500'
  | 'every 503'
  | 'unreadable answer'
  | 'not recorded'
  | 'timeout'
  | 'record'
  | 'breaker'
  | 'abort'
  | 'cut stream'
  | 'stream failover'
  | 'stream refused'
  | 'candidate order';

/** Most values of a body here: the default is as many as take long to make. */
const BODY_VALUES = 1_000;
const EMPTY_EVENTS = ': comment\n\nevent: ping\n\nid: 1\n\ndata:\n\n';
const RULES = [
  { match: { model: 'down' }, reply: { status: 503, error: { message: 'overloaded' } } },
  { match: { model: 'failed' }, reply: { status: 500, error: { message: 'broken inside' } } },
  { match: { model: 'limited' }, reply: { status: 429, retry_after: 7 } },
  { match: { model: 'refused' }, reply: { status: 401, error: { message: 'bad key' } } },
  { match: { model: 'forbidden' }, reply: { status: 403, error: { message: 'not yours' } } },
  { match: { model: 'invalid' }, reply: { status: 400, error: { message: 'not like this' } } },
  { match: { model: 'proxied' }, reply: { status: 407, error: { message: 'proxy login' } } },
  {
    match: { model: 'hollow' },
    reply: { raw: { content_type: 'text/event-stream', body: EMPTY_EVENTS.repeat(25) } },
  },
  { match: { model: 'broken' }, reply: { malformed: true } },
  { match: { model: 'cut' }, reply: { text: 'one two three four', cut_after: 2 } },
  { match: { model: 'hung' }, reply: { delay_ms: 60_000 } },
  { match: { model: 'silent' }, reply: { usage: null } },
  {
    match: { model: 'counted' },
    reply: {
      usage: {
        input_tokens: 100,
        output_tokens: 50,
        reasoning_tokens: 20,
        cache_read_tokens: 1000,
      },
    },
  },
];

/** USD per million tokens, each class at a price of its own. */
const CLASSES = { input: '1', cache_read: '0.1', output: '10', reasoning: '20' };

/** A model for each fault, and one whose first route has it and whose second is healthy. */
function config(row: SurfaceRow, own: string, upstream: string) {
  const faults = RULES.map(({ match }) => match.model).slice(0, 11);
  const provider = (name: string): object => ({
    name: `${own}-${name}`,
    type: 'custom',
    base_url: upstream,
    auth: { type: 'none' },
    protocols: { [row.protocol]: { path: row.upstreamPath } },
  });
  const route = (name: string, priority = 0): object => ({
    provider: `${own}-${name === 'echo' ? 'healthy' : name}`,
    upstream_model: name,
    priority,
  });
  const model = (name: string, routes: object[], rest: object = {}): object => ({
    name: `${own}/${name}`,
    type: row.modelType ?? 'llm',
    routes,
    ...rest,
  });
  const timeouts = { first_content: '50ms' };
  return {
    providers: [provider('healthy'), ...[...faults, 'tripped', 'silent', 'counted'].map(provider)],
    models: [
      model('echo', [route('echo')], { pricing: 'free' }),
      model('priced', [route('echo')], { pricing: { per_call: '1' } }),
      model('silent', [route('silent')], { pricing: CLASSES }),
      model('counted', [route('counted')], { pricing: CLASSES }),
      model('closed', [{ ...route('echo'), enabled: false }]),
      model('slow-then-echo', [{ ...route('hung'), timeouts }, route('echo', 1)]),
      model('tripped-then-echo', [
        { ...route('tripped'), upstream_model: 'down' },
        route('echo', 1),
      ]),
      ...faults.flatMap((name) => [
        model(name, [route(name)]),
        model(`${name}-then-echo`, [route(name), route('echo', 1)]),
      ]),
    ],
  };
}

interface AskOptions {
  stream?: boolean;
  key?: string;
  body?: string | Buffer;
  carried?: readonly CarriedKey[];
}

/** Holds every family to what all of them promise, over real sockets. */
export function testSurfaces(rows: readonly SurfaceRow[]): void {
  const stage: Partial<Stage> = {};
  beforeAll(async () => {
    stage.mock = await startMockServer({ cassette: { rules: RULES } });
    const { url } = stage.mock;
    const all = rows.map((row, index) => config(row, ownName(row, index), url));
    stage.gateway = await startGateway({
      server: { limits: { body_values: BODY_VALUES } },
      providers: all.flatMap(({ providers }) => providers),
      models: all.flatMap(({ models }) => models),
    });
  });
  afterAll(async () => {
    await stage.gateway?.stop();
    await stage.mock?.close();
  });
  const unrecorded = rows.map((row, index) => testSurface(row, ownName(row, index), stage));

  describe('a store that is gone', () => {
    let restore = (): void => undefined;
    beforeAll(async () => {
      for (const { begin } of unrecorded) await begin();
      const store = stage.gateway?.gateway?.store;
      if (!store) throw new Error('runs in process');
      const gone = new StoreError('unavailable', 'gone');
      const broken = vi.spyOn(store, 'commit').mockRejectedValue(gone);
      restore = () => broken.mockRestore();
    });
    afterAll(() => restore());
    for (const { test } of unrecorded) test();
  });
}

/** In front of the names of a row's providers and models; two rows may be of one surface. */
function ownName({ name }: SurfaceRow, index: number): string {
  return `${name}-${index}`;
}

interface Stage {
  mock: MockServer;
  gateway: TestGateway;
}

interface Unrecorded {
  /** Makes what the test needs of the store. */
  begin(): Promise<void>;
  /** Of a store that fails. */
  test(): void;
}

function testSurface(row: SurfaceRow, own: string, stage: Partial<Stage>): Unrecorded {
  let mock: MockServer;
  let gateway: TestGateway;
  beforeAll(() => {
    ({ mock, gateway } = stage as Stage);
  });

  const healthy = `${own}-healthy`;
  const said = row.said ?? 'You said: hello';
  const contentType = row.contentType ?? 'application/json';
  const carry = row.carriers[0] as SurfaceRow['carriers'][number];

  const requestOf = (name: string, options: AskOptions) => {
    const { stream = false, key = gateway.clientKey, body } = options;
    const carried = options.carried ?? (key === '' ? [] : [carry(key)]);
    const path = row.path(`${own}/${name}`, stream);
    const query = carried.flatMap((one) => one.query ?? []).join('&');
    const join = path.includes('?') ? '&' : '?';
    return {
      url: gateway.url + path + (query === '' ? '' : join + query),
      headers: Object.assign({ 'content-type': contentType }, ...carried.map((one) => one.headers)),
      body: body ?? row.body(`${own}/${name}`, stream),
    };
  };
  const ask = (name: string, options: AskOptions = {}): Promise<RawAnswer> => {
    const { url, ...rest } = requestOf(name, options);
    return askRaw(url, { method: 'POST', ...rest });
  };
  const proves = (one: SurfaceCase, title: string): string =>
    verifies(...((row.ids?.[one] ?? []) as [string]), title);
  const json = ({ body }: RawAnswer): unknown => JSON.parse(body.toString('utf8'));
  /** What was asked of models; a look at a task is none of it. */
  const asked = () => mock.engine.calls().filter(({ method }) => method === 'POST');
  const callsOf = (model: string) => asked().filter((call) => call.model === model);
  const createKey = async (fields: object): Promise<{ value: string; id: string }> => {
    const name = `k${Math.random()}`;
    const made = await gateway.admin('POST', '/admin/v1/keys', { name, ...fields });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body;
  };
  const createOrganization = async (fields: object): Promise<string> => {
    const name = `o${Math.random()}`;
    const made = await gateway.admin('POST', '/admin/v1/organizations', { name, ...fields });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body.id;
  };

  /** Every error of the family: its status, its shape, one request id under both names. */
  const expectError = (answer: RawAnswer, status: number, shape = 'own'): string => {
    expect(answer.status, answer.body.toString('utf8')).toBe(status);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    expect(answer.headers['request-id']).toBe(answer.headers['x-request-id']);
    const isFlat = shape === 'shared' && row.flat;
    const body = json(answer);
    const message = isFlat ? (body as { error: string }).error : row.errorMessage(body);
    expect(message, answer.body.toString('utf8')).toBeTypeOf('string');
    return message as string;
  };

  const recordOf = (answer: RawAnswer): Promise<RequestRecord> =>
    eventually(async () => {
      const id = String(answer.headers['x-request-id']);
      const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
      const record = body as RequestRecord;
      return record.result === undefined || record.result === 'pending' ? undefined : record;
    });
  /** What says what one call of an organization cost: its own record, or that of its task's end. */
  const chargeFor = async (
    answer: RawAnswer,
    { organization, key }: { organization: string; key: string },
  ): Promise<RequestRecord> => {
    const record = await recordOf(answer);
    if (!row.taskPath) return record;
    expect(record.cost).toBe('0.00');
    const path = row.taskPath(json(answer));
    return eventually(async () => {
      await gateway.call('GET', path, { key });
      const list = `/admin/v1/requests?organization=${organization}`;
      const { body } = await gateway.admin('GET', list);
      return (body.data as RequestRecord[]).find(({ cost }) => cost !== '0.00');
    });
  };

  describe(`${row.name} answers`, () => {
    it(proves('answer', 'as its protocol does, under a request id of its own'), async () => {
      const answer = await ask('echo');
      expect(answer.status, answer.body.toString('utf8')).toBe(200);
      expect(row.textOf(json(answer))).toBe(said);
      expect(answer.headers['content-type']).toContain('application/json');
      expect(answer.headers['x-request-id']).toMatch(/^req_/);
      expect(answer.headers['request-id']).toBe(answer.headers['x-request-id']);
    });

    it(
      verifies('answers.headers', 'with who gave the answer, at which try and at what cost'),
      async () => {
        for (const stream of row.stream ? [false, true] : [false]) {
          const second = await ask('failed-then-echo', { stream });
          expect(second.headers).toMatchObject({
            'x-gateway-model': `${own}/failed-then-echo`,
            'x-gateway-provider': healthy,
            'x-gateway-attempts': '2',
          });
          expect(second.headers).not.toHaveProperty('x-gateway-cost');
          const { headers } = await ask('priced', { stream });
          const isKnown = !stream && !row.taskPath;
          expect([headers['x-gateway-cost'], headers['x-gateway-attempts']]).toEqual([
            isKnown ? '1.00' : undefined,
            '1',
          ]);
        }
      },
    );

    it(proves('candidate order', 'from the next candidate when one fails'), async () => {
      const faults = ['down', 'failed', 'limited', 'refused', 'forbidden'];
      for (const name of row.once ? faults : [...faults, 'broken']) {
        const answer = await ask(`${name}-then-echo`);
        expect([name, answer.status]).toEqual([name, 200]);
        expect(row.textOf(json(answer))).toBe(said);
      }
    });

    it(proves('timeout', 'from the next candidate when one shows nothing in time'), async () => {
      const answer = await ask('slow-then-echo');
      if (row.once) {
        expectError(answer, 503);
        expect(answer.headers['x-should-retry']).toBe('false');
      } else {
        expect(answer.status).toBe(200);
        expect(row.textOf(json(answer))).toBe(said);
      }
      const left = callsOf('hung').at(-1);
      await eventually(() => left?.outcome === 'aborted');
    });

    it(proves('breaker', 'without asking a candidate that keeps failing'), async () => {
      const calls = (): number => callsOf('down').length;
      const before = calls();
      for (let i = 0; i < 8; i++) expect((await ask('tripped-then-echo')).status).toBe(200);
      expect(calls() - before).toBe(5);
    });

    it(proves('faithful', 'after sending what the client sent, but for the model'), async () => {
      const body = row.body(`${own}/echo`, false);
      await ask('echo', { body });
      const call = asked().at(-1) as MockCall;
      const expected = row.sent?.(call) ?? body.toString().replace(`"${own}/echo"`, '"echo"');
      expect(call.body.toString('utf8')).toBe(expected);
    });

    it(proves('record', 'and records who answered, what it took and what it cost'), async () => {
      const organization = await createOrganization({});
      const { value: key } = await createKey({ organization });
      const answer = await ask('priced', { key });
      expect((await recordOf(answer)).attempts).toMatchObject([
        { provider: healthy, outcome: 'ok', status: 200 },
      ]);
      const record = await chargeFor(answer, { organization, key });
      expect(record).toMatchObject({
        surface: row.name,
        model: `${own}/priced`,
        status: 200,
        result: 'ok',
        cost: '1.00',
        answered_by: { provider: healthy, upstream_model: 'echo' },
      });
      const failed = await recordOf(await ask('failed-then-echo'));
      expect(failed.attempts.map(({ outcome }) => outcome)).toEqual(['status_500', 'ok']);
      const { input_tokens: input, images, seconds } = record.usage;
      expect(input + images + seconds).toBeGreaterThan(0);
    });
  });

  describe(`${row.name} charges`, () => {
    const modes = row.stream ? [false, true] : [false];

    it(
      proves('token classes', 'each class of tokens at its own price, streamed or not'),
      async () => {
        for (const stream of row.cost === undefined ? [] : modes) {
          const record = await recordOf(await ask('counted', { stream }));
          expect(record).toMatchObject({ cost: row.cost, estimated: false });
        }
      },
    );

    it(proves('estimate', 'an estimate that is marked when nobody counted'), async () => {
      for (const stream of row.cost === undefined ? [] : modes) {
        const record = await recordOf(await ask('silent', { stream }));
        expect(record.estimated).toBe(true);
        expect(record.usage.input_tokens).toBeGreaterThan(0);
        expect(Number(record.cost)).toBeGreaterThan(0);
      }
    });

    it(proves('concurrent spending', 'no more than a limit allows, of calls at once'), async () => {
      const organization = await createOrganization({ spending_limit: '4' });
      const limits: object[] = [{ spending_limit: '4' }, { organization }];
      for (const fields of limits) {
        const { value } = await createKey(fields);
        const calls = Array.from({ length: 8 }, () => ask('priced', { key: value }));
        const statuses = (await Promise.all(calls)).map(({ status }) => status);
        expect(statuses.filter((status) => status === 200)).toHaveLength(4);
        expect(new Set(statuses).size).toBe(2);
      }
    });
  });

  describe(`${row.name} takes a key`, () => {
    it(
      proves('carriers', 'from each of its carriers; the first that is present decides'),
      async () => {
        for (const [index, one] of row.carriers.entries()) {
          const alone = await ask('echo', { carried: [one(gateway.clientKey)] });
          expect([index, alone.status]).toEqual([index, 200]);
          for (const lower of row.carriers.slice(index + 1)) {
            const both = await ask('echo', {
              carried: [lower(gateway.clientKey), one('sk-wrong')],
            });
            expect(expectError(both, 401, 'shared')).toBe('invalid API key');
          }
        }
        const last = asked().slice(-row.carriers.length);
        for (const call of last) {
          expect(JSON.stringify([call.headers, call.path])).not.toContain(gateway.clientKey);
        }
      },
    );

    it(proves('no key', 'or asks nobody'), async () => {
      const before = asked().length;
      const message = expectError(await ask('echo', { key: '' }), 401, 'shared');
      expect(message).toBe('missing API key in Authorization header');
      expect(asked()).toHaveLength(before);
    });

    it(proves('refused callers', 'of its scope and of an enabled organization'), async () => {
      const before = asked().length;
      const { value } = await createKey({ scopes: ['models'] });
      expect(expectError(await ask('echo', { key: value }), 403, 'shared')).toBe(
        'insufficient_scope',
      );
      const organization = await createOrganization({});
      const owned = await createKey({ organization });
      const path = `/admin/v1/organizations/${organization}`;
      expect((await gateway.admin('PATCH', path, { enabled: false })).status).toBe(200);
      expectError(await ask('echo', { key: owned.value }), 403, 'shared');
      expect(asked()).toHaveLength(before);
    });

    it(proves('key spent', 'that has money left'), async () => {
      const before = asked().length;
      const { value } = await createKey({ spending_limit: '0.5' });
      const answer = await ask('priced', { key: value });
      expect(expectError(answer, row.statuses.keySpent, 'shared')).toBe(
        'API key spending limit exceeded',
      );
      expect(asked()).toHaveLength(before);
    });

    it(proves('organization spent', 'of an organization that has money left'), async () => {
      const organization = await createOrganization({ spending_limit: '1' });
      const { value } = await createKey({ organization });
      expect((await ask('priced', { key: value })).status).toBe(200);
      const before = asked().length;
      const answer = await eventually(async () => {
        const refused = await ask('priced', { key: value });
        return refused.status === 200 ? undefined : refused;
      });
      expect(expectError(answer, 402, 'shared')).toBe('organization spending limit reached');
      expect(asked()).toHaveLength(before);
    });
  });

  describe(`${row.name} refuses`, () => {
    it(proves('unknown model', 'a model that nobody configured'), async () => {
      const message = expectError(await ask('nothing'), row.statuses.unknownModel);
      expect(message).toContain('nothing');
    });

    it(proves('no route', 'a model that no enabled route serves'), async () => {
      expectError(await ask('closed'), row.statuses.noRoute);
    });

    it(proves('invalid JSON', 'a body that is not what it takes'), async () => {
      for (const body of ['{"model":', '[]', 'null', '"text"', '{} {}', '\u0000', '']) {
        expectError(await ask('echo', { body }), 400);
      }
    });

    it.skipIf(contentType !== 'application/json')(
      verifies('limits.values.inference', 'a body of more values than the setting allows'),
      async () => {
        const plain = row.body(`${own}/echo`, false).toString();
        const bodyWith = (count: number): string =>
          plain.replace(/^\{/, `{"many":[${'{},'.repeat(count - 1)}{}],`);
        const before = asked().length;
        const message = expectError(await ask('echo', { body: bodyWith(BODY_VALUES) }), 400);
        expect(message).toContain(`more than ${BODY_VALUES} values`);
        expect(message).toContain('server.limits.body_values');
        expect(asked()).toHaveLength(before);
        expect((await ask('echo', { body: bodyWith(BODY_VALUES - 100) })).status).toBe(200);
        expect(asked()).toHaveLength(before + 1);
      },
    );

    it(proves('provider 400', "with the provider's own words what it refuses"), async () => {
      expect(expectError(await ask('invalid-then-echo'), 400)).toBe('not like this');
    });
  });

  describe(`${row.name} fails`, () => {
    it(proves('every 503', 'with 503 when every candidate is down'), async () => {
      expectError(await ask('down'), 503);
    });

    it(proves('every 500', 'as its family says when every candidate answers 500'), async () => {
      expectError(await ask('failed'), row.statuses.failed);
    });

    it(proves('every 429', 'without a retry header when every candidate is limited'), async () => {
      const answer = await ask('limited');
      expectError(answer, row.statuses.limited);
      expect(
        Object.keys(answer.headers).filter((name) => /retry-after|ratelimit/.test(name)),
      ).toEqual([]);
    });

    it(proves('every 401', "without blaming the caller's key for the provider's"), async () => {
      expectError(await ask('refused'), row.statuses.unauthorized);
    });

    it(proves('every 403', 'as its family says when the provider forbids it'), async () => {
      expectError(await ask('forbidden'), row.statuses.forbidden);
    });

    it(
      verifies('routing.retryable-set.407', 'never with the 407 of a proxy of the provider'),
      async () => {
        for (const stream of row.stream ? [false, true] : [false]) {
          expect((await ask('proxied-then-echo', { stream })).status).toBe(200);
          expectError(await ask('proxied', { stream }), 503);
        }
      },
    );

    it(proves('unreadable answer', 'when no answer can be read'), async () => {
      expectError(await ask('broken'), row.statuses.unreadable);
    });

    it(proves('abort', 'within half a second upstream when the client leaves'), async () => {
      const before = callsOf('hung').length;
      const { url, headers, body } = requestOf('hung', {});
      const left = new AbortController();
      const gone = fetch(url, {
        method: 'POST',
        headers,
        body: new Uint8Array(Buffer.from(body)),
        signal: left.signal,
      }).catch(() => undefined);
      const call = await eventually(() => callsOf('hung')[before]);
      left.abort();
      await gone;
      await eventually(() => call.outcome === 'aborted', 500);
    });
  });

  let key = '';
  const unrecorded: Unrecorded = {
    async begin() {
      ({ value: key } = await createKey({ spending_limit: '1000' }));
      expect((await ask('echo', { key })).status).toBe(200);
    },
    test() {
      it(proves('not recorded', `makes ${row.name} answer 500 and ask no provider`), async () => {
        const before = asked().length;
        expectError(await ask('echo', { key }), 500);
        expect(asked()).toHaveLength(before);
      });
    },
  };

  const { stream } = row;
  if (!stream) return unrecorded;
  describe(`${row.name} streams`, () => {
    it(proves('stream', 'what it would have answered whole, to a proper end'), async () => {
      const answer = await ask('echo', { stream: true });
      const events = answer.body.toString('utf8');
      expect(answer.status, events).toBe(200);
      expect(answer.headers['content-type']).toContain(stream.contentType ?? 'text/event-stream');
      expect(answer.headers['cache-control']).toBe('no-cache');
      expect(stream.textOf(events)).toBe(said);
      expect(stream.isWhole(events), events).toBe(true);
      expect((await recordOf(answer)).usage.output_tokens).toBeGreaterThan(0);
    });

    it(proves('stream failover', 'from the next candidate when one fails early'), async () => {
      for (const name of ['down', 'limited', 'refused', 'slow']) {
        const answer = await ask(`${name}-then-echo`, { stream: true });
        expect([name, answer.status]).toEqual([name, 200]);
        expect(stream.textOf(answer.body.toString('utf8'))).toBe(said);
      }
    });

    it(
      proves('cut stream', 'an error and no proper end when the provider breaks off'),
      async () => {
        const before = callsOf('echo').length;
        const { url, headers, body } = requestOf('cut-then-echo', { stream: true });
        const opened = await openRaw(url, { method: 'POST', headers, body });
        await opened.ended;
        expect(opened.status).toBe(200);
        expect(stream.endsInError(opened.text()), opened.text()).toBe(true);
        expect(stream.isWhole(opened.text())).toBe(false);
        expect(callsOf('echo')).toHaveLength(before);
      },
    );

    it(
      verifies(
        'routing.commit-gate.comments',
        'from the next candidate when one sends nothing but comments and empty events',
      ),
      async () => {
        const answer = await ask('hollow-then-echo', { stream: true });
        expect(answer.status).toBe(200);
        expect(stream.textOf(answer.body.toString('utf8'))).toBe(said);
        expect(stream.isWhole(answer.body.toString('utf8'))).toBe(true);
        expectError(await ask('hollow', { stream: true }), row.statuses.unreadable);
      },
    );

    it(proves('stream refused', 'nothing but a plain error when all fail'), async () => {
      expectError(await ask('down', { stream: true }), 503);
    });
  });
  return unrecorded;
}
