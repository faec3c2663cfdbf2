import { EventEmitter } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startFakeServer, type FakeServer, type Handler } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { runCli, type CliOptions } from '../run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { capabilitiesOf } from '../../../src/protocols/capabilities/capabilities-of.ts';

let server: FakeServer;
afterEach(() => server?.close());

const KEY = {
  id: 'key_1',
  type: 'api_key',
  name: 'app',
  organization: 'org_1',
  enabled: true,
  hint: 'sk-tes…0123',
  expires_at: null,
  rpm_cap: 60,
  spending_limit: { lifetime: '10.00', day: null, month: null },
  version: 1,
};
const MODEL = { id: 'acme/fast', object: 'model', created: 1_790_000_000, owned_by: 'acme' };
const RECORD = {
  id: 'req_1',
  created_at: '2026-11-21T10:00:00.000Z',
  model: 'acme/fast',
  surface: 'chat',
  status: 200,
  result: 'ok',
  cost: '0.01',
  total_ms: 12,
};

async function run(handler: Handler, argv: string[], options: CliOptions = {}) {
  server = await startFakeServer(handler);
  const env = {
    GATEWAY_SERVER: server.url,
    GATEWAY_API_KEY: 'sk-test-0000000000000123',
    ...options.env,
  };
  return { ...(await runCli(argv, { ...options, env })), calls: server.calls };
}
const answer =
  (body: unknown, status = 200): Handler =>
  () => ({ status, body });
const list = (...data: unknown[]) => answer({ data, next_page: null });
/** Keys of a gateway that tells neither their use nor their owners. */
const keysOf =
  (...data: unknown[]): Handler =>
  (call, response) =>
    call.path === '/admin/v1/keys' ? list(...data)(call, response) : { status: 404, body: {} };

describe('keys', () => {
  it(verifies('cli.keys', 'create prints the value once, alone on stdout'), async () => {
    const value = `sk-${'ab'.repeat(32)}`;
    const flags =
      '--rpm-cap 60 --spending-limit 10 --spending-limit-day 0.5 --allowed-model acme/*';
    const words = `keys create app --scope inference --scope models ${flags}`;
    const created = await run(answer({ ...KEY, value }, 201), words.split(' '));
    expect(created.code).toBe(0);
    expect(created.stdout).toBe(`${value}\n`);
    expect(created.stderr).not.toContain(value);
    expect(created.calls[0]).toMatchObject({
      method: 'POST',
      path: '/admin/v1/keys',
      body: {
        name: 'app',
        scopes: ['inference', 'models'],
        rpm_cap: 60,
        spending_limit: { lifetime: '10', day: '0.5' },
        allowed_models: ['acme/*'],
      },
    });
  });

  it(verifies('limits.too-small', 'create shows the warnings of the server'), async () => {
    const warnings = ['spending_limit: 0.01 USD cannot pay for one call'];
    const made = answer({ ...KEY, value: 'v', warnings }, 201);
    const { stderr } = await run(made, ['keys', 'create', 'app']);
    expect(stderr).toContain(`warning: ${warnings[0]}\n`);
    expect((await run(made, ['keys', 'create', 'app', '--json'])).json().warnings).toEqual(
      warnings,
    );
  });

  it('create sends nothing that was not asked for', async () => {
    const { calls } = await run(answer({ ...KEY, value: 'v' }, 201), [
      'keys',
      'create',
      '--name',
      'app',
    ]);
    expect(calls[0]?.body).toEqual({ name: 'app' });
  });

  it('create turns a lifetime into an instant', async () => {
    const { calls } = await run(answer({ ...KEY, value: 'v' }, 201), [
      'keys',
      'create',
      'a',
      '--expires-in',
      '1h',
    ]);
    const left = Date.parse(calls[0]?.body.expires_at) - Date.now();
    expect(left).toBeGreaterThan(3_500_000);
    expect(left).toBeLessThanOrEqual(3_600_000);
  });

  it.each([
    [[]],
    [['a', '--spending-limit', 'lots']],
    [['a', '--expires-at', 'soon']],
    [['a', '--expires-at', '2030-01-01', '--expires-in', '1h']],
  ])('create refuses %j without a call', async (words) => {
    const refused = await run(answer({}), ['keys', 'create', ...words]);
    expect(refused.code).toBe(64);
    expect(refused.calls).toEqual([]);
  });

  it('list shows hints and never a value', async () => {
    const shown = await run(keysOf(KEY), ['keys', 'list', '-o', 'wide']);
    expect(shown.stdout).toContain('sk-tes…0123');
    expect(shown.stdout).toContain('10.00 in all');
    expect(shown.stdout.split('\n').every((line) => line === line.trimEnd())).toBe(true);
    expect((await run(keysOf(KEY), ['keys', 'list', '-q'])).stdout).toBe('app\n');
    expect((await run(keysOf(KEY), ['keys', 'list', '--json'])).json().data).toEqual([
      { ...KEY, state: 'active' },
    ]);
  });

  it(
    verifies(
      'cli.keys',
      'revoke needs --yes where nobody can be asked, and says it cannot be undone',
    ),
    async () => {
      const refused = await run(answer(KEY), ['keys', 'revoke', 'app']);
      expect(refused.code).toBe(64);
      expect(refused.stderr).toContain('cannot be undone');
      expect(refused.calls.every(({ method }) => method === 'GET')).toBe(true);
      const revoked = await run(answer({ ...KEY, enabled: false }), [
        'keys',
        'revoke',
        'app',
        '--yes',
      ]);
      expect(revoked.code).toBe(0);
      expect(revoked.stdout).toContain('cannot be undone');
      expect(revoked.calls.at(-1)).toMatchObject({
        method: 'POST',
        path: '/admin/v1/keys/key_1/revoke',
      });
    },
  );
});

describe('models', () => {
  it(verifies('cli.models', 'list and get show the catalog in text and JSON'), async () => {
    const shown = await run(list(MODEL), ['models', 'list', '--vendor', 'acme', '--type', 'llm']);
    // Of a gateway that does not tell more.
    expect(shown.stdout).toMatch(/^MODEL +TYPE .*\nacme\/fast +- +- +- +-\n$/);
    expect(Object.fromEntries(shown.calls[0]?.query ?? [])).toEqual({
      vendor: 'acme',
      type: 'llm',
      details: 'true',
    });
    expect((await run(list(MODEL), ['models', 'list', '-q'])).stdout).toBe('acme/fast\n');
    expect((await run(list(MODEL), ['models', 'list', '-o', 'json'])).json().data).toEqual([
      { name: MODEL.id, ...MODEL },
    ]);
    const one = await run(answer(MODEL), ['models', 'get', 'acme/fast']);
    expect(one.stdout).toMatch(/^created +2026-09-21T14:13:20\.000Z$/m);
    expect((await run(answer(MODEL), ['models', 'get', 'x', '-o', 'json'])).json().data).toEqual(
      MODEL,
    );
    expect(one.calls[0]?.url).toBe('/v1/models/acme%2Ffast');
  });

  it('get shows a line for each way in which clients are served, and what is lost on it', async () => {
    const protocols = {
      chat: [{ provider_protocol: 'messages', translated: true, loses: ['seed', 'n'] }],
      messages: [{ provider_protocol: 'messages', translated: false, loses: [] }],
    };
    const { stdout } = await run(answer({ ...MODEL, protocols }), ['models', 'get', 'acme/fast']);
    expect(stdout).toContain('owned_by');
    expect(stdout).toMatch(/^created +2026-/m);
    expect(stdout).toMatch(/\n\nCLIENT SPEAKS +PROVIDER SPEAKS +LOST\n/);
    expect(stdout).toMatch(/\nchat +messages +seed, n\nmessages +messages +-\n$/);
  });

  it(
    verifies(
      'current.capabilities-override',
      'explain shows the order of the candidates, and apart from it what is left out',
    ),
    async () => {
      const line = { provider: 'a', upstream_model: 'up', why: 'priority 0' };
      const capabilities = capabilitiesOf('messages', 'claude-sonnet-4-5');
      const plan = {
        model: 'acme/fast',
        protocol: 'messages',
        candidates: [
          {
            ...line,
            model: 'm',
            protocol: 'chat',
            health: { state: 'available', latency_ms: 12 },
            capabilities,
            decided_by: {
              thinking: 'https://vendor.test/thinking',
              efforts: 'route',
              min_budget: 'https://vendor.test/thinking',
              penalties: 'provider',
            },
          },
        ],
        left_out: [
          { ...line, provider: 'b', model: 'm', protocol: null, why: 'speaks images', health: {} },
        ],
      };
      const argv = ['models', 'explain', 'acme/fast', '--protocol', 'messages', '-o', 'wide'];
      const { stdout, calls } = await run(answer(plan), argv);
      expect(calls[0]?.url).toBe('/admin/v1/routing?model=acme%2Ffast&protocol=messages');
      expect(stdout).toMatch(
        /^acme\/fast asked in messages:\n\n# +PROVIDER .* WHY\n1 +a +up +chat +/,
      );
      expect(stdout).toMatch(
        /\n1 +budget, 1024 or more +none +not while thinking; temperature or top_p +any +not while thinking +any +to 128 +from 1 +application\/pdf\n/,
      );
      expect(stdout).toContain(
        [
          '\n\ndecided by:\n',
          '1  thinking, min_budget: https://vendor.test/thinking',
          '1  efforts: `capabilities` of the route',
          '1  penalties: the type of the provider\n',
        ].join('\n'),
      );
      expect(stdout).toMatch(/left out:\n\nPROVIDER .*\nb +up +speaks images\n$/);
      const nobody = await run(answer({ ...plan, candidates: [], left_out: [] }), argv);
      expect(nobody.stdout).toContain('no route can serve it');
    },
  );

  it('list asks for every type unless one is named', async () => {
    const { calls } = await run(list(), ['models', 'list']);
    expect(calls[0]?.url).toBe('/v1/models?type=&details=true');
  });

  it('get of a missing one fails, unless that is fine', async () => {
    const missing = answer({ error: 'model not found' }, 404);
    expect((await run(missing, ['models', 'get', 'x'])).code).toBe(1);
    const fine = await run(missing, ['models', 'get', 'x', '--ignore-not-found']);
    expect(fine).toMatchObject({ code: 0, stdout: '' });
  });
});

describe('chat', () => {
  const events = [
    { choices: [{ delta: { content: 'hel' } }] },
    { choices: [{ delta: { content: 'lo' } }], x: 1.5 },
  ];
  const stream =
    (...tail: string[]): Handler =>
    (_call, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of events) res.write(`data: ${JSON.stringify(event)}\n\n`);
      for (const text of tail) res.write(text);
      res.end();
      return undefined;
    };
  const done = 'data: [DONE]\n\n';

  it('prints the answer and sends prompt and system message', async () => {
    const said = await run(stream(done), ['chat', 'm', 'hi', '--system', 'be kind']);
    expect(said).toMatchObject({ code: 0, stdout: 'hello\n', stderr: '' });
    expect(said.calls[0]?.body).toMatchObject({
      model: 'm',
      stream: true,
      messages: [
        { role: 'system', content: 'be kind' },
        { role: 'user', content: 'hi' },
      ],
    });
  });

  it.each([[['-']], [[]]])('reads the prompt from a pipe with %j', async (words) => {
    const { calls } = await run(stream(done), ['chat', 'm', ...words], { stdin: 'from a pipe\n' });
    expect(calls[0]?.body.messages).toEqual([{ role: 'user', content: 'from a pipe' }]);
  });

  it.each(['--no-stream', '--json'])('asks for a prompt on a terminal with %s', async (flag) => {
    expect((await run(stream(done), ['chat', 'm', flag], { tty: true })).code).toBe(64);
  });

  it(
    verifies('cli.output.ndjson', 'with -o json is NDJSON with the events of the server untouched'),
    async () => {
      const { stdout } = await run(stream(done), ['chat', 'm', 'hi', '-o', 'json']);
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines).toEqual([
        { type: 'version', version: 1 },
        ...events.map((event) => ({ type: 'event', event })),
        { type: 'end', reason: 'done' },
      ]);
    },
  );

  it('fails when the answer is cut, keeping what arrived', async () => {
    const cut = await run(stream(), ['chat', 'm', 'hi']);
    expect(cut).toMatchObject({ code: 8, stdout: 'hello\n' });
    expect(cut.stderr).toContain('cut off');
  });

  it('fails with the error that the server tells in the stream', async () => {
    const error = `data: ${JSON.stringify({ error: { message: 'provider lost', code: 'upstream_interrupted' } })}\n\n`;
    const failed = await run(stream(error), ['chat', 'm', 'hi', '--json']);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'end',
      reason: 'error',
      error: { code: 'upstream_interrupted', message: 'provider lost' },
    });
  });

  it('waits for the whole answer with --no-stream', async () => {
    const body = { id: 'c', choices: [{ message: { content: 'hello' } }] };
    const whole = await run(answer(body), ['chat', 'm', 'hi', '--no-stream', '--json']);
    expect(whole.json().data).toEqual(body);
    expect(whole.calls[0]?.body.stream).toBeUndefined();
  });
});

describe('records', () => {
  it('logs lists as many as asked and shows one by its id', async () => {
    const many = await run(list(RECORD, RECORD, RECORD), [
      'logs',
      '-n',
      '2',
      '--model',
      'acme/fast',
      '-q',
    ]);
    expect(many.stdout).toBe('req_1\nreq_1\n');
    expect(Object.fromEntries(many.calls[0]?.query ?? [])).toEqual({
      limit: '2',
      model: 'acme/fast',
    });
    const one = await run(answer(RECORD), ['logs', 'req_1']);
    expect(one.calls[0]?.path).toBe('/admin/v1/requests/req_1');
    expect(one.stdout).toMatch(/^money +0\.01 USD$/m);
  });

  it('logs names the key of a request and the provider', async () => {
    const attempts = [{ provider: 'first', outcome: 'status_503', ms: 3 }];
    const record = { ...RECORD, key: { id: 'key_1', name: 'my-app' }, attempts };
    const { stdout, calls } = await run(list(record), ['logs', '--provider', 'first']);
    expect(stdout).toMatch(/my-app .* first /);
    expect(calls[0]?.query.get('provider')).toBe('first');
  });

  it('logs shows a call of the own organization to a key without the scope admin', async () => {
    const own = { ...RECORD, type: 'execution' };
    const { stdout, calls } = await run(
      ({ path }) =>
        path.startsWith('/admin')
          ? { status: 403, body: { error: 'insufficient_scope' } }
          : { body: own },
      ['logs', 'req_1'],
    );
    expect(calls.map(({ path }) => path)).toContain('/v1/account/executions/req_1');
    expect(stdout).toMatch(/^request +req_1$/m);
  });

  it('logs finds a key and an organization by name', async () => {
    const found = await run(
      ({ path }) =>
        path === '/admin/v1/requests'
          ? { body: { data: [], next_page: null } }
          : { body: { id: `id-of-${path.split('/').at(-1)}`, type: 'x', name: 'x' } },
      ['logs', '--key', 'my-app', '--organization', 'team'],
    );
    expect(Object.fromEntries(found.calls.at(-1)?.query ?? [])).toMatchObject({
      key: 'id-of-my-app',
      organization: 'id-of-team',
    });
  });

  const USAGE = {
    input_tokens: 5,
    cache_read_tokens: 6,
    cache_write_5m_tokens: 1,
    output_tokens: 9,
  };
  const counted = { requests: 3, errors: 0, usage: USAGE };

  it('usage shows names of keys, and tokens by class', async () => {
    const named = { key: 'key_1', key_name: 'my-app', ...counted, cost: '0.03' };
    const gone = { key: 'key_2', key_name: null, ...counted, cost: null };
    const shown = await run(list(named, gone), ['usage', '--by', 'key']);
    expect(shown.stdout).toMatch(/^my-app +3 +0 +5 +7 +9 +0\.03$/m);
    expect(shown.stdout).toMatch(/^key_2 +3 +0 +5 +7 +9 +unpriced$/m);
  });

  it(verifies('usage.by-dimension', 'usage of a month by label, for a spreadsheet'), async () => {
    const rows = [
      { 'label:team': 'core, "web"', ...counted, estimated: 0, unpriced: 0, cost: '0.03' },
      { 'label:team': '=1+1', ...counted, estimated: 0, unpriced: 0, cost: '-0.01' },
      { 'label:team': null, ...counted, estimated: 0, unpriced: 3, cost: null },
    ];
    const argv = ['usage', '--by', 'label:team', '--month', '2026-10', '-o', 'csv'];
    const shown = await run(list(...rows), argv);
    expect(Object.fromEntries(shown.calls[0]?.query ?? [])).toEqual({
      group_by: 'label:team',
      month: '2026-10',
    });
    expect(shown.stdout.trimEnd().split('\n')).toEqual([
      `label:team,requests,errors,estimated,unpriced,${Object.keys(USAGE).join(',')},cost_usd`,
      '"core, ""web""",3,0,0,0,5,6,1,9,0.03',
      "'=1+1,3,0,0,0,5,6,1,9,-0.01",
      ',3,0,0,3,5,6,1,9,',
    ]);
    const mixed = await run(list(), ['usage', '--month', '2026-10', '--since', '2h']);
    expect([mixed.code, mixed.stderr]).toEqual([64, expect.stringContaining('--month')]);
    expect((await run(list(), ['usage', '--month', 'May'])).code).toBe(64);
  });

  it(verifies('usage.forecast', 'usage of the running month ends with its forecast'), async () => {
    const forecast = { month: '2026-11', spent: '3.00', cost: '4.50' };
    const body = { data: [{ ...counted, model: 'm', cost: '3.00' }], next_page: null, forecast };
    const shown = await run(() => ({ body }), ['usage', '--month', '2026-11']);
    expect(shown.stdout.trimEnd().split('\n').at(-1)).toBe(
      '2026-11: 3.00 USD so far, 4.50 USD by the end of the month at this pace',
    );
  });

  it(
    verifies('conversations.headers', 'logs of a conversation end with what all of it cost'),
    async () => {
      const sums = { ...counted, requests: 7, cost: '0.42', unpriced: 2 };
      const shown = await run(
        ({ path }) => ({
          body: { data: [path === '/admin/v1/usage' ? sums : RECORD], next_page: null },
        }),
        ['logs', '--conversation', 'sess-1', '-n', '1'],
      );
      expect(shown.calls.map(({ path, query }) => [path, query.get('conversation')])).toEqual([
        ['/admin/v1/requests', 'sess-1'],
        ['/admin/v1/usage', 'sess-1'],
      ]);
      expect(shown.stdout.trimEnd().split('\n').at(-1)).toBe(
        'conversation sess-1: 7 requests, 0.42 USD, and 2 of them unpriced',
      );
    },
  );

  it.each([
    [['keys', 'revoke', 'nobody', '--yes'], 'api_key', 'gateway keys list'],
    [['invoke', 'nobody', 'hi'], '', 'gateway services list'],
    [['trigger', 'depl_1'], 'deployment', 'gateway schedules list'],
    [['runs', 'list', '--deployment', 'nobody'], '', 'gateway schedules list'],
    [['keys', 'create', 'k', '--organization', 'o'], 'organization', 'gateway organizations list'],
  ])('%j that names nothing tells what shows what there is', async (argv, kind, list) => {
    const lost = await run(({ path }) => {
      const isList = /\/(endpoints|deployments)$/.test(path);
      const none = { data: [], next_page: null };
      return isList ? { body: none } : { status: 404, body: { error: `${kind} not found` } };
    }, argv);
    expect([lost.code, lost.stderr]).toEqual([
      1,
      expect.stringContaining(`hint: \`${list}\` lists what exists`),
    ]);
  });

  it('usage and logs look back as far as they are asked to', async () => {
    const before = Date.now();
    const shown = await run(list(), ['usage', '--since', '2h']);
    const from = Date.parse(shown.calls[0]?.query.get('from') ?? '');
    expect(from).toBeGreaterThanOrEqual(before - 2 * 3_600_000);
    expect(from).toBeLessThanOrEqual(Date.now() - 2 * 3_600_000);
    await server.close();
    for (const argv of [
      ['logs', '--since', '1d', '--from', '2026-11-01'],
      ['logs', '--from', 'yesterday'],
      ['logs', 'req_1', '--follow'],
      ['logs', '--follow', '--to', '2026-11-01'],
    ]) {
      const refused = await run(list(), argv);
      expect([refused.code, refused.calls], argv.join(' ')).toEqual([64, []]);
      await server.close();
    }
  });

  it('logs follow what ends from now on, and leave out the rest', async () => {
    const signals = new EventEmitter();
    const open = { ...RECORD, id: 'req_2', status: null, result: 'pending', total_ms: null };
    const failed = { ...RECORD, id: 'req_3', status: 503, result: 'error' };
    const looks: object[][] = [
      [RECORD],
      [],
      [RECORD],
      [open, RECORD],
      [failed, { ...open, status: 200, result: 'ok', total_ms: 3 }, RECORD],
    ];
    const handler: Handler = () => {
      const data = looks.length > 1 ? looks.shift() : looks[0];
      return { body: { data, next_page: null } };
    };
    const followed = await run(
      handler,
      ['logs', '--follow', '--model', 'acme/fast', '-o', 'json'],
      {
        signals,
        onStdout: (text) => void (text.includes('req_3') && signals.emit('SIGINT')),
      },
    );
    expect(followed.code).toBe(130);
    const lines = followed.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.flatMap(({ event }) => event?.id ?? [])).toEqual(['req_2', 'req_3']);
    for (const { query } of followed.calls) expect(query.get('model')).toBe('acme/fast');
  });

  it('logs follow no status that the gateway does not know', async () => {
    const handler: Handler = ({ query }) =>
      query.get('status') === 'bogus'
        ? { status: 400, body: { error: 'status: no bogus' } }
        : { body: { data: [], next_page: null } };
    const refused = await run(handler, ['logs', '--follow', '--status', 'bogus']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('no bogus')]);
  });

  it('usage groups as asked', async () => {
    const row = {
      model: 'acme/fast',
      day: '2026-11-21',
      requests: 3,
      errors: 0,
      cost: '0.03',
    };
    const shown = await run(list(row), [
      'usage',
      '--by',
      'model',
      '--by',
      'day',
      '--from',
      '2026-11-01',
    ]);
    expect(Object.fromEntries(shown.calls[0]?.query ?? [])).toEqual({
      group_by: 'model,day',
      from: '2026-11-01T00:00:00.000Z',
    });
    expect(shown.stdout).toMatch(/^MODEL +DAY +REQUESTS/);
    expect(shown.stdout).toContain('acme/fast  2026-11-21  3');
  });

  it.each(['providers', 'apis', 'organizations'])('%s list and get', async (kind) => {
    const one = { id: 'x_1', type: kind, name: 'one', enabled: true };
    expect((await run(list(one), [kind, 'list'])).stdout).toContain('one');
    expect((await run(answer(one), [kind, 'get', 'one'])).calls[0]?.path).toBe(
      `/admin/v1/${kind}/one`,
    );
  });
});

describe('api', () => {
  it(
    verifies('cli.misc-commands', 'makes a raw authenticated call and prints the body as it is'),
    async () => {
      const called = await run(answer({ b: 1, a: 2 }), [
        'api',
        'post',
        '/v1/x?y=1',
        '-d',
        '{"n":1.0}',
      ]);
      expect(called.stdout).toBe('{"b":1,"a":2}');
      expect(called.calls[0]).toMatchObject({ method: 'POST', url: '/v1/x?y=1', body: { n: 1 } });
      expect(called.calls[0]?.headers.authorization).toBe('Bearer sk-test-0000000000000123');
      for (const argv of [
        ['version', '-o', 'json'],
        ['completion', 'bash'],
        ['completion', 'zsh'],
        ['completion', 'fish'],
      ]) {
        expect((await runCli(argv)).code).toBe(0);
      }
      expect((await runCli(['version', '-o', 'json'])).json().data.version).toMatch(
        /^\d+\.\d+\.\d+/,
      );
    },
  );

  it('changes no byte of what it sends and gets', async () => {
    const sent: string[] = [];
    const got: Uint8Array[] = [];
    const image = Uint8Array.of(0x89, 0x50, 0xff, 0x00, 0xfe, 0x0a, 0x1b);
    const handler: Handler = ({ text }, response) => {
      sent.push(text);
      response.writeHead(200, { 'content-type': 'image/png' }).end(image);
      return undefined;
    };
    const data = '{ "n": 1.0, "id": 12345678901234567890 }\n';
    const onBytes = (bytes: Uint8Array): void => void got.push(bytes);
    const called = await run(handler, ['api', 'POST', '/x', '-d', data], { onBytes });
    expect(called.code).toBe(0);
    expect(called.calls[0]?.headers['content-type']).toBe('application/json');
    expect(sent).toEqual([data]);
    expect(Buffer.concat(got)).toEqual(Buffer.from(image));
  });

  it('shows a terminal nothing that acts on it', async () => {
    const handler: Handler = (_call, response) => {
      response.writeHead(200).end('a\u001b[2Jb');
      return undefined;
    };
    const shown = await run(handler, ['api', 'GET', '/x'], { tty: true });
    expect(shown.stdout).not.toContain('\u001b[2J');
    expect(shown.stdout).toMatch(/^a.*b\n$/);
  });

  it('takes the body from a file or stdin', async () => {
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, 'body.json'), '{"from":"file"}');
    const file = await run(answer({}), ['api', 'POST', '/x', '-d', '@body.json'], { cwd });
    expect(file.calls[0]?.body).toEqual({ from: 'file' });
    const piped = await run(answer({}), ['api', 'POST', '/x', '-d', '-'], {
      stdin: '{"from":"stdin"}',
    });
    expect(piped.calls[0]?.body).toEqual({ from: 'stdin' });
  });

  it.each([
    [['FETCH', '/x']],
    [['GET', 'x']],
    [['POST', '/x', '-d', '{']],
    [['POST', '/x', '-d', '@none']],
  ])('refuses %j', async (words) => {
    const refused = await run(answer({}), ['api', ...words]);
    expect(refused.code).toBe(64);
    expect(refused.calls).toEqual([]);
  });
});

describe('every remote command', () => {
  const commands = [
    ['keys', 'list'],
    ['keys', 'create', 'a'],
    ['keys', 'revoke', 'a', '--yes'],
    ['models', 'list'],
    ['models', 'get', 'a'],
    ['chat', 'm', 'hi'],
    ['usage'],
    ['logs'],
    ['api', 'GET', '/x'],
    ['whoami'],
    ['providers', 'list'],
  ];
  const failures: [number, string, number][] = [
    [401, 'invalid API key', 4],
    [404, 'not found', 1],
    [409, 'conflict', 5],
    [422, 'unprocessable value', 1],
  ];

  it(
    verifies(
      'cli.exit.same-with-json',
      'fails with the same code with and without -o json, one document',
    ),
    async () => {
      for (const [status, message, code] of failures) {
        for (const argv of commands) {
          const text = await run(answer({ error: message }, status), argv);
          await server.close();
          const json = await run(answer({ error: message }, status), [...argv, '-o', 'json']);
          await server.close();
          expect([text.code, json.code], argv.join(' ')).toEqual([code, code]);
          expect(text.stdout).toBe('');
          expect(json.json()).toMatchObject({ ok: false, data: null, error: { status } });
          expect(Object.keys(json.json())).toEqual(['schema', 'ok', 'data', 'warnings', 'error']);
        }
      }
    },
  );

  it('prints a result that is one JSON document with -o json', async () => {
    const ok = await run(keysOf(KEY), ['keys', 'list', '-o', 'json']);
    expect(ok.json()).toMatchObject({ schema: 'gateway.keys.list/v1', ok: true, error: null });
  });

  it('shows the key nowhere, not even with --debug', async () => {
    const debug = await run(keysOf(KEY), ['keys', 'list', '--debug']);
    expect(debug.stderr).toContain('GET /admin/v1/keys → 200');
    expect(debug.stdout + debug.stderr).not.toContain('sk-test-0000000000000123');
  });

  it('whoami names server, organization and key', async () => {
    const organization = { id: 'org_1', name: 'acme' };
    const own = { id: 'key_1', name: 'app', organization, scopes: null };
    const me = await run(answer(own), ['whoami', '--json']);
    expect(me.json().data).toMatchObject({
      server: server.url,
      organization: 'acme',
      organization_id: 'org_1',
      key: 'sk-tes…0123',
      key_name: 'app',
      role: null,
    });
    expect(me.stdout).not.toContain('sk-test-0000000000000123');
  });

  it('whoami shows the role that a person signed in with', async () => {
    const organization = { id: 'org_1', name: 'acme' };
    const own = { id: 'key_1', name: 'ann', organization, scopes: ['inference'], role: 'viewer' };
    const me = await run(answer(own), ['whoami', '--json']);
    expect(me.json().data).toMatchObject({ role: 'viewer', scopes: ['inference'] });
  });
});

describe('signals and pipes', () => {
  it('the first Ctrl-C ends the call with 130, the second at once', async () => {
    const signals = new EventEmitter();
    const exits: number[] = [];
    const interrupted = await run(
      () => {
        signals.emit('SIGINT');
        signals.emit('SIGINT');
        return undefined;
      },
      ['keys', 'list'],
      { signals, onExit: (code) => exits.push(code) },
    );
    expect(interrupted.code).toBe(130);
    expect(exits).toEqual([130]);
    expect(signals.listenerCount('SIGINT')).toBe(0);
  });

  it('SIGTERM is 143', async () => {
    const signals = new EventEmitter();
    const handler: Handler = () => {
      signals.emit('SIGTERM');
      return undefined;
    };
    expect((await run(handler, ['models', 'list'], { signals })).code).toBe(143);
  });
});
