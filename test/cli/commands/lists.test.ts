import { afterEach, describe, expect, it } from 'vitest';
import { isListed, kindsWhere } from '../../../src/core/kinds.ts';
import { startFakeServer, type FakeServer, type Handler } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';

let server: FakeServer;
afterEach(() => server?.close());

async function run(handler: Handler, ...argv: string[]) {
  server = await startFakeServer(handler);
  const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test-0000000000000123' };
  return runCli(argv, { env });
}

const ID = (prefix: string) => `${prefix}_01m8knr2b1000pdwkyfqvtzpza`;
const AT = '2026-11-21T10:00:00.000Z';
const OWNER = {
  id: ID('org'),
  type: 'organization',
  name: 'engineering-platform',
  enabled: true,
  version: 1,
};
const PAST = new Date(Date.now() - 1_000).toISOString();

const key = (name: string, more: object) => ({
  id: ID('key'),
  type: 'api_key',
  name,
  organization: OWNER.id,
  enabled: true,
  hint: 'sk-ba0…dcd3',
  scopes: null,
  role: null,
  expires_at: null,
  revoked_at: null,
  rpm_cap: 60,
  allowed_models: null,
  spending_limit: { lifetime: '100.00', day: '10.00', month: '50.00' },
  version: 1,
  ...more,
});

const KEYS = [
  { ...key('continuous-integration', { role: 'operator', expires_at: AT }), id: 'key_1' },
  { ...key('books', { role: 'billing', scopes: ['admin'] }), id: 'key_2' },
  { ...key('leaked', { enabled: false, revoked_at: AT, expires_at: AT }), id: 'key_3' },
  { ...key('dormant', { organization: 'org_off' }), id: 'key_4' },
];

/** Answers each list with its rows; usage as given. */
const gateway =
  (rows: readonly object[], usage: readonly object[] = []): Handler =>
  ({ path }) => {
    if (path === '/admin/v1/organizations')
      return { status: 200, body: { data: [OWNER, { ...OWNER, id: 'org_off', enabled: false }] } };
    if (path.startsWith('/admin/v1/organizations/')) return { status: 200, body: OWNER };
    if (path.startsWith('/admin/v1/usage')) return { status: 200, body: { data: usage } };
    return { status: 200, body: { data: rows, next_page: null } };
  };

const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

describe('keys list', () => {
  const usage = [
    { key: 'key_1', day: '2026-11-20', requests: 1, errors: 0, cost: '0' },
    { key: 'key_1', day: '2026-11-28', requests: 1, errors: 0, cost: null },
    { key: 'key_1', day: '2026-11-27', requests: 1, errors: 0, cost: '0' },
  ];

  it(
    verifies('cli.tables.keys', 'shows role, organization, state and last use within 120 columns'),
    async () => {
      const { stdout } = await run(gateway(KEYS, usage), 'keys', 'list');
      expect(widest(stdout)).toBeLessThanOrEqual(120);
      expect(stdout).toMatch(/^NAME +ORGANIZATION +ROLE +STATE +LAST USE/);
      expect(stdout).toMatch(
        /^continuous-integration +engineering-platform +operator +expired +2026-11-28/m,
      );
      expect(stdout).toMatch(/^books +engineering-platform +billing +active +- /m);
      expect(stdout).toMatch(/^leaked .* revoked /m);
      expect(stdout).toMatch(/^dormant .* disabled /m);
      expect(stdout).not.toContain('ENABLED');
    },
  );

  it('shows every column with -o wide, and every member with -o csv', async () => {
    const wide = await run(gateway(KEYS, usage), 'keys', 'list', '-o', 'wide');
    expect(wide.stdout).toMatch(/SPENDING LIMIT +ID +SCOPES +MODELS +RPM +KEY/);
    expect(wide.stdout).toContain('all but admin');
    const csv = await run(gateway(KEYS, usage), 'keys', 'list', '-o', 'csv');
    const [head, first] = csv.stdout.split('\n');
    expect(head).toMatch(/^id,type,name,organization,.*,state,last_used_on,organization_name$/);
    expect(first).toContain(',expired,2026-11-28,');
  });

  it('lists keys also where the key in use may not read usage or organizations', async () => {
    const refusing: Handler = (call, res) =>
      /usage|organizations/.test(call.path)
        ? { status: 403, body: { error: { code: 'insufficient_scope', message: 'no' } } }
        : gateway([key('soon', { expires_at: PAST })])(call, res);
    const { code, stdout } = await run(refusing, 'keys', 'list', '-o', 'json');
    expect(code).toBe(0);
    const { data } = JSON.parse(stdout);
    expect(data[0]).toMatchObject({ state: 'expired' });
    expect(data[0]).not.toHaveProperty('last_used_on');
  });

  it('lists none where these fail in another way', async () => {
    const failing: Handler = (call, res) =>
      call.path.includes('usage')
        ? { status: 400, body: { error: { code: 'invalid_request', message: 'what?' } } }
        : gateway(KEYS)(call, res);
    const { code, stderr } = await run(failing, 'keys', 'list');
    expect(code).toBe(1);
    expect(stderr).toContain('what?');
  });
});

describe('a stream', () => {
  it.each(
    ['logs', 'audit'].flatMap((one) =>
      ['csv', 'yaml', 'name', 'jsonpath={.id}'].map((f) => [one, f]),
    ),
  )(
    verifies('cli.output.formats', '%s --follow makes no document: -o %s'),
    async (command, format) => {
      const { code, stderr } = await run(gateway([]), command, '--follow', '-o', format);
      expect(code).toBe(64);
      expect(stderr).toContain(`-o ${format} prints a whole list`);
      expect(stderr).toContain('-o json for one JSON object per line');
      expect(server.calls).toEqual([]);
    },
  );
});

describe('every list', () => {
  /** Members that columns of kinds show, as long as they come. */
  const ROW = {
    ...key('a-name-of-thirty-characters-ok', {}),
    name: 'a-name-of-thirty-characters-ok',
    display_name: 'A display name that people read',
    provider_type: 'openai-compatible',
    base_url: 'https://gateway.internal.example.com/v1/openai',
    api_key_configured: true,
    model: { id: 'vendor/some-long-model-name-2026-11-01' },
    harness: null,
    methods: ['GET', 'POST'],
    amount: '1000.00',
    per: 'month',
    on_exceed: 'refuse',
    mime_type: 'application/pdf',
    size_bytes: 123_456_789,
    latest_version_id: ID('skillver'),
    created_at: AT,
    updated_at: AT,
    archived_at: AT,
    value_hint: 'can…210',
    status: 'active',
    failure_count: 0,
    slug: 'a-slug-of-thirty-characters-ok',
    protocols: ['rest', 'mcp', 'acp'],
    agent_id: ID('agent'),
    agent_name: 'a-name-of-thirty-characters-ok',
    version: 12,
  };

  it.each(kindsWhere(isListed))(
    verifies('cli.tables.width', 'fits 120 columns: %s'),
    async (kind) => {
      const own = kind === 'models' ? MODEL : ROW;
      const budget = { spent: '999.00', reserved: '1.00', left: '0.00', resets_at: AT };
      const { code, stdout } = await run(gateway([{ ...own, ...budget }]), kind, 'list');
      expect(code).toBe(0);
      expect(widest(stdout)).toBeLessThanOrEqual(120);
      const shown = { models: MODEL.id, organizations: OWNER.name };
      expect(stdout).toContain(shown[kind as keyof typeof shown] ?? ROW.name);
    },
  );

  const MODEL = {
    id: 'vendor/some-long-model-name-2026-11-01',
    object: 'model',
    created: 1,
    owned_by: 'vendor',
    type: 'llm',
    context_window: 1_000_000,
    protocols: ['chat', 'responses', 'messages', 'generate-content', 'interactions', 'embeddings'],
    pricing: { currency: 'USD', input: '3.00', output: '15.00' },
    routes: ['openai', 'azure-eu', 'azure-us', 'openrouter', 'a-further-one', 'b'].map(
      (provider) => ({ protocols: ['chat'], provider }),
    ),
  };

  it('has short prices, and the protocols with -o wide alone: models', async () => {
    const { stdout } = await run(gateway([MODEL]), 'models', 'list');
    expect(stdout).toMatch(/USD IN\/OUT PER 1M/);
    expect(stdout).toMatch(/ 3\.00\/15\.00 +1000000 +openai, azure-eu/);
    expect(stdout).not.toContain('generate-content');
    const wide = await run(gateway([MODEL]), 'models', 'list', '-o', 'wide');
    expect(wide.stdout).toContain('3.00 in, 15.00 out per million tokens');
    expect(wide.stdout).toContain('generate-content, interactions');
  });
});

describe('models list', () => {
  it(
    verifies('models.open', 'says which list failed and why, and what can be called all the same'),
    async () => {
      const open = [
        { provider: 'openai', patterns: ['*'], listed: 0, problem: 'connect ECONNREFUSED' },
        { provider: 'azure', patterns: ['gpt-*'], listed: 0 },
        { provider: 'groq', patterns: ['*'], listed: 3, problem: null },
      ];
      const handler: Handler = () => ({ status: 200, body: { object: 'list', data: [], open } });
      const { stdout, stderr } = await run(handler, 'models', 'list');
      expect(stdout).toBe('no models\n');
      expect(stderr).toBe(
        [
          'warning: the models of openai could not be listed: connect ECONNREFUSED; openai/* can be called all the same\n',
          'the models of azure are not listed; azure/gpt-* can be called all the same\n',
        ].join(''),
      );
    },
  );
});

describe('a JSONPath of a list', () => {
  const MODELS = gateway([
    { id: 'acme/fast', object: 'model' },
    { id: 'acme/slow', object: 'model' },
  ]);

  it.each(['{.items[*].name}', '{.data[*].name}', '{.data[*].id}', '{..name}'])(
    verifies('cli.jsonpath.roots', 'finds what jq finds: %s'),
    async (path) => {
      const run1 = await run(MODELS, 'models', 'list', '-o', `jsonpath=${path}`);
      expect(run1).toMatchObject({ code: 0, stdout: 'acme/fast acme/slow\n', stderr: '' });
    },
  );

  it('finds one object under data as well', async () => {
    const one: Handler = () => ({ status: 200, body: { id: 'acme/fast', object: 'model' } });
    const { stdout } = await run(one, 'models', 'get', 'acme/fast', '-o', 'jsonpath={.data.id}');
    expect(stdout).toBe('acme/fast\n');
  });

  it('says on stderr what there is when it matches nothing, and exits 0', async () => {
    const { code, stdout, stderr } = await run(
      MODELS,
      'models',
      'list',
      '-o',
      'jsonpath={.items[*].nme}',
    );
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toBe(
      'warning: -o jsonpath={.items[*].nme} matches nothing; an item has name, id, object\n',
    );
  });

  it(verifies('cli.output.formats', 'has names only where its rows have one'), async () => {
    const { code, stderr } = await run(gateway([]), 'usage', '-o', 'name');
    expect(code).toBe(64);
    expect(stderr).toContain('--output must be one of text, json, csv, wide, yaml, jsonpath=EXPR');
  });

  it('needs no word for an empty list', async () => {
    const { code, stderr } = await run(
      gateway([]),
      'models',
      'list',
      '-o',
      'jsonpath={.items[*].nme}',
    );
    expect([code, stderr]).toEqual([0, '']);
  });

  const record = { id: 'one', created_at: AT, model: 'm', surface: 'chat', status: 200 };
  const call = { ...record, result: 'ok', cost: null, total_ms: 1 };
  const entry = {
    id: 'one',
    at: AT,
    actor: { kind: 'key', id: null, name: 'a' },
    from: { address: null, client: null },
    action: 'update',
    object: { kind: 'key', id: 'k', name: null },
    changes: [],
    organization: null,
    request_id: null,
    chain: 1,
    number: 1,
    hash: 'x',
  };
  const ROWS: Readonly<Record<string, object>> = { logs: call, executions: call, audit: entry };

  it.each(Object.keys(ROWS))('is taken by %s', async (command) => {
    const rows = [ROWS[command]];
    const { code, stdout } = await run(
      gateway(rows as object[]),
      command,
      '-o',
      'jsonpath={.items[*].id}',
    );
    expect([code, stdout]).toEqual([0, 'one\n']);
  });
});

describe('a model that does not exist', () => {
  const refusing: Handler = ({ method }) => {
    const error = {
      code: 'model_not_found',
      message: 'the model `mock/ecko` does not exist (request req_7)',
    };
    if (method === 'POST')
      return { status: 404, body: { error }, headers: { 'x-request-id': 'req_7' } };
    return { status: 200, body: { data: [{ id: 'mock/echo', object: 'model' }] } };
  };

  it.each([
    [['chat', 'mock/ecko', 'hi'], 'did you mean mock/echo?'],
    [['chat', 'mock/ecko', 'hi', '--no-stream'], 'did you mean mock/echo?'],
    [['run', 'mock/ecko', '--input', '{}'], 'did you mean mock/echo?'],
    [['chat', 'completely/other', 'hi'], '`gateway models list` shows what there is'],
  ])('is answered with the one that was meant, and one request id: %j', async (argv, hint) => {
    const { code, stderr } = await run(refusing, ...argv);
    expect(code).toBe(1);
    expect(stderr).toContain(`hint: ${hint}`);
    expect(stderr.match(/req_7/g)).toHaveLength(1);
  });

  it('is not looked for where the key may not do what was asked', async () => {
    const handler: Handler = () => ({
      status: 403,
      body: { error: { code: 'insufficient_scope', message: 'no' } },
    });
    const { stderr } = await run(handler, 'usage');
    for (const command of ['usage --own', 'budgets list --own', 'executions', 'account'])
      expect(stderr).toContain(`\`gateway ${command}\``);
  });
});
