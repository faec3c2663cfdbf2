import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../cli/run-cli.ts';
import { inTurn, IS_ALL, numberOfCommit } from '../runs.ts';
import { eventually, newDirectory, startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { bytesBelow, expectNowhere } from '../support/find-secrets.ts';
import { startUpstream } from '../support/stage/upstream.ts';
import type { Upstream } from '../support/stage/upstream.ts';
import { verifies } from '../requirements.ts';

/** One for each kind of secret; nothing else in the world has these letters. */
const SECRETS = {
  master: 'canary-master-3f1b8a6de07c5924',
  provider: 'canary-provider-81d0f6a2c3',
  api: 'canary-api-token-5be9274c10',
  imported: 'sk-canary4d7e1f90b2a85c63canary',
  credential: 'canary-credential-9e03b7d5f1',
  rotated: 'canary-rotated-credential-27c4a8',
  hook: 'canary-chat-hook-60fa13d9b8',
  program: 'canary-env-of-a-program-b4e2c7',
};
/** What clients send by mistake, or in the wrong place. */
const SENT = {
  bearer: 'sk-canary-of-a-wrong-bearer-77aa',
  query: 'canary-in-a-query-1290ffee',
  cookie: 'canary-in-a-cookie-5566dd',
  header: 'canary-in-x-api-key-00cc31',
  google: 'canary-in-a-google-key-8d2e',
  basic: Buffer.from('user:canary-basic-password-4410').toString('base64'),
  webhook: 'canary-in-a-webhook-address-92e7',
  own: 'canary-own-credential-of-a-client-c81f',
};
const ENV = {
  MASTER: SECRETS.master,
  PROVIDER: SECRETS.provider,
  API: SECRETS.api,
  KEY: SECRETS.imported,
  CREDENTIAL: SECRETS.credential,
  PROGRAM: SECRETS.program,
};

/** A provider that tells everything it was told, in words that look like an error. */
function startGossip(): Promise<Upstream> {
  return startUpstream((response, { url, headers, body }) => {
    const status = Number(/\be([45]\d\d)\b/.exec(body.toString() + url)?.[1] ?? 200);
    // The bodies of an API that is called by path are its own, whatever is in them.
    const told = url.startsWith('/shop') ? {} : { url, headers, body: body.toString() };
    const gossip = JSON.stringify(told);
    const message = `refused: ${gossip} with key ${headers.authorization}`;
    response.writeHead(status, {
      'content-type': 'application/json',
      'www-authenticate': String(headers.authorization),
      'x-echo': encodeURIComponent(gossip).slice(0, 2_000),
    });
    const error = { message, type: 'error', code: headers.authorization };
    const choices = [{ index: 0, message: { role: 'assistant', content: 'fine' } }];
    response.end(JSON.stringify(status === 200 ? { id: 'c', choices } : { error }));
  });
}

/** A program that tells its environment to whoever listens. */
const PROGRAM = `
process.stderr.write('started with ' + process.env.LEAK + '\\n');
process.stdin.once('data', () => {
  console.log(JSON.stringify({ jsonrpc: '2.0', id: 0, error: { code: 1, message: process.env.LEAK } }));
  console.log('and ' + process.env.LEAK);
  process.exit(3);
});
`;

const REFUSALS = ['e400', 'e401', 'e404', 'e429', 'e500'];

function configOf(gossip: string, format: 'text' | 'json', program: string): object {
  return {
    server: {
      log: { level: 'debug', format },
      secrets: { master_key: '${secret:env:MASTER}' },
      metrics: { listen: { host: '127.0.0.1', port: 0 } },
      outbound: { allow: [new URL(gossip).host] },
      notifications: {
        webhooks: { ours: { url: `${gossip}/bots`, format: 'slack', success: 'status' } },
      },
      mcp_servers: {
        leaky: {
          command: process.execPath,
          args: [program],
          env: { LEAK: '${secret:env:PROGRAM}' },
        },
      },
    },
    providers: [
      {
        name: 'gossip',
        type: 'custom',
        base_url: `${gossip}/v1`,
        api_key: '${secret:env:PROVIDER}',
        protocols: { chat: { path: '/chat' }, messages: { path: '/messages' } },
      },
      {
        name: 'lent',
        type: 'custom',
        base_url: `${gossip}/lent`,
        auth: { type: 'client' },
        protocols: { chat: { path: '/chat' }, messages: { path: '/messages' } },
      },
      { name: 'mock', type: 'mock' },
    ],
    models: ['ok', ...REFUSALS]
      .map((name): object => ({
        name: `m/${name}`,
        routes: [{ provider: 'gossip', upstream_model: name }],
      }))
      .concat(
        ['ok', ...REFUSALS].map((name) => ({
          name: `lent/${name}`,
          routes: [{ provider: 'lent', upstream_model: name }],
        })),
      )
      .concat({ name: 'm/mock', routes: [{ provider: 'mock' }] }),
    apis: [
      {
        name: 'shop',
        base_url: `${gossip}/shop`,
        api_key: '${secret:env:API}',
        auth: { type: 'query', name: 'token' },
      },
    ],
    keys: [{ name: 'imported', value: '${secret:env:KEY}' }],
  };
}

const FORMATS = inTurn('form of the log', ['text', 'json'] as const);

describe.each(FORMATS)('a gateway that logs everything as %s', (format) => {
  let gossip: Upstream;
  let directory = '';
  let gateway: TestGateway;
  /** Everything that was answered or printed, but for what shows a new secret on purpose. */
  let answered = '';
  const minted: Record<string, string> = {};

  const note = (text: string): void => void (answered += `${text}\n`);
  const all = (): Record<string, string> => ({
    ...SECRETS,
    ...SENT,
    ...minted,
    admin: gateway.adminKey,
  });

  beforeAll(async () => {
    gossip = await startGossip();
    directory = await newDirectory();
    const program = join(directory, 'leaky.mjs');
    await writeFile(program, PROGRAM);
    gateway = await startGateway(configOf(gossip.url, format, program), {
      binary: true,
      directory,
      env: ENV,
    });
    await useEverything();
  });
  afterAll(async () => {
    await gateway?.stop();
    await gossip.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function ask(method: string, path: string, options: object = {}): Promise<any> {
    const answer = await gateway.call(method, path, { key: SECRETS.imported, ...options });
    const { status, body, headers } = answer;
    note(`${status} ${JSON.stringify([...headers])} ${JSON.stringify(body)}`);
    return answer.body;
  }

  async function useEverything(): Promise<void> {
    const { adminKey: admin } = gateway;
    const client = SECRETS.imported;
    const messages = [{ role: 'user', content: 'hello' }];
    const headers = {
      cookie: `session=${SENT.cookie}`,
      'x-api-key': SENT.header,
      'x-goog-api-key': SENT.google,
      'proxy-authorization': `Basic ${SENT.basic}`,
    };
    for (const name of ['ok', 'e400', 'e401', 'e404', 'e429', 'e500', 'unknown']) {
      for (const stream of [false, true]) {
        const body = { model: `m/${name}`, messages, stream, max_tokens: 5 };
        await ask('POST', `/v1/chat/completions?key=${SENT.query}`, { body, headers });
        const own = { ...headers, 'x-api-key': client };
        await ask('POST', `/v1/messages?key=${SENT.query}`, { body, headers: own });
      }
    }
    await lendEverywhere(messages);
    for (const path of ['ok', 'e400', 'e401', 'e500'])
      await ask('GET', `/v1/api/shop/${path}?key=${SENT.query}&token=${SENT.query}`, { headers });
    for (const path of [
      '/v1/models',
      '/v1/nowhere',
      '/v1beta/models',
      '/admin/v1/keys',
      '/v1/%zz',
    ]) {
      await ask('GET', `${path}?key=${SENT.query}`, { key: SENT.bearer, headers });
      await ask('GET', `${path}?key=${SENT.query}`, {
        key: '',
        headers: { ...headers, authorization: `Basic ${SENT.basic}` },
      });
    }
    const webhook = `${gossip.url}/runs?token=${SENT.webhook}`;
    for (const model of ['m/ok', 'm/e500', 'm/mock'])
      await ask('POST', '/v1/run', { body: { model, input: { messages }, webhook_url: webhook } });
    await ask('POST', '/v1/run', {
      body: { model: 'm/ok', input: {}, webhook_url: `http://user:${SENT.webhook}@10.0.0.1/x` },
    });
    const agent = await ask('POST', '/v1/agents', {
      body: {
        name: 'leaky',
        model: 'm/mock',
        mcp_servers: [{ type: 'stdio', name: 'leaky', server: 'leaky' }],
        tools: [{ type: 'mcp_toolset', mcp_server_name: 'leaky' }],
      },
    });
    const credential = await ask('POST', '/v1/credentials', {
      body: {
        agent_id: agent.id,
        scope: 'mcp',
        scope_name: 'leaky',
        secret_key: 'TOKEN',
        value: SECRETS.credential,
      },
    });
    const { id } = credential.data ?? credential;
    await ask('POST', `/v1/credentials/${id}/rotate`, { body: { value: SECRETS.rotated } });
    await ask('POST', `/v1/credentials/${id}/rotate`, { body: { value: [SECRETS.rotated] } });
    const event = { type: 'user.message', content: [{ type: 'text', text: 'hello' }] };
    const deployment = await ask('POST', '/v1/deployments', {
      body: {
        name: 'nightly',
        agent_id: agent.id,
        initial_events: [event],
        notification_settings: { chat_webhook_url: `${gossip.url}/bots/${SECRETS.hook}` },
      },
    });
    expect(deployment, JSON.stringify(deployment)).toMatchObject({ chat_webhook_configured: true });
    await ask('POST', `/v1/deployments/${deployment.id}/notifications/chat/test`);
    await ask('POST', `/v1/deployments/${deployment.id}/runs`);
    await ask('POST', '/v1/deployments', {
      body: {
        name: 'other',
        agent_id: agent.id,
        initial_events: [event],
        notification_settings: { chat_webhook_url: `https://evil.test/${SECRETS.hook}` },
      },
    });
    const session = await ask('POST', '/v1/sessions', { body: { agent: agent.id } });
    await ask('POST', `/v1/sessions/${session.id}/events`, { body: { events: [event] } });
    await eventually(async () => {
      const { body } = await gateway.call('GET', `/v1/sessions/${session.id}/events`, {
        key: client,
      });
      return JSON.stringify(body).includes('session.status_idle');
    });
    await ask('GET', `/v1/sessions/${session.id}/events`);

    const made = await gateway.call('POST', '/admin/v1/keys', {
      key: admin,
      body: { name: 'new' },
    });
    minted['key'] = made.body.value;
    const signing = await gateway.call('POST', '/v1/webhooks/secret/rotate', {
      key: client,
      body: {},
    });
    const secret = /whsec_[\w+/=-]+/.exec(JSON.stringify(signing.body))?.[0];
    if (secret !== undefined) minted['signing'] = secret;

    for (const kind of [
      'keys',
      'providers',
      'models',
      'apis',
      'requests',
      'usage',
      'organizations',
    ])
      await ask('GET', `/admin/v1/${kind}`, { key: admin });
    for (const kind of ['credentials', 'deployments', 'deployment_runs', 'agents', 'run', 'models'])
      await ask('GET', `/v1/${kind}`);
    for (const path of ['/openapi.json', '/healthz', '/readyz', '/metrics', '/'])
      await ask('GET', path, { key: admin });
    const metrics = await eventually(() => /metrics on ([^\s"]+)/.exec(gateway.log())?.[1]);
    const scraped = await fetch(metrics.endsWith('/metrics') ? metrics : `${metrics}/metrics`);
    expect(scraped.status).toBe(200);
    note(await scraped.text());
  }

  /** Sends the client's own credential in each of its carriers, to whom it is meant for and to others. */
  async function lendEverywhere(messages: object[]): Promise<void> {
    const own = { 'x-gateway-upstream-authorization': `Bearer ${SENT.own}` };
    const beside = { 'x-api-key': SECRETS.imported };
    for (const name of ['ok', ...REFUSALS]) {
      const body = { model: `lent/${name}`, messages, max_tokens: 5 };
      const named = { ...own, 'idempotency-key': `lent-${name}` };
      for (const headers of [own, named, named])
        await ask('POST', '/v1/chat/completions', { body, headers });
      for (const stream of [false, true])
        await ask('POST', '/v1/messages', {
          key: SENT.own,
          body: { ...body, stream },
          headers: beside,
        });
      const others = { ...body, model: `m/${name}` };
      await ask('POST', '/v1/chat/completions', { body: others, headers: own });
      await ask('POST', '/v1/messages', { key: SENT.own, body: others, headers: beside });
    }
    for (const path of ['/v1/api/shop/ok', '/v1/models/lent/ok'])
      await ask('GET', path, { headers: { ...own, x_gateway_upstream_authorization: SENT.own } });
    for (const model of ['lent/ok', 'm/ok'])
      await ask('POST', '/v1/run', { headers: own, body: { model, input: { messages } } });
    const agent = await ask('POST', '/v1/agents', { body: { name: 'lent', model: 'lent/ok' } });
    const session = await ask('POST', '/v1/sessions', { headers: own, body: { agent: agent.id } });
    const event = { type: 'user.message', content: [{ type: 'text', text: 'hello' }] };
    const path = `/v1/sessions/${session.id}/events`;
    await ask('POST', path, { headers: own, body: { events: [event] } });
    await eventually(async () => {
      const { body } = await gateway.call('GET', path, { key: SECRETS.imported });
      return JSON.stringify(body).includes('session.status_idle');
    });
    await ask('GET', path, { headers: own });
  }

  it(
    verifies('providers.client-auth', 'brings the credential of a client to one provider alone'),
    () => {
      const whole = (one: object): string => JSON.stringify(one);
      const lent = gossip.seen.filter((one) => whole(one).includes(SENT.own));
      expect(lent.length).toBeGreaterThan(10);
      for (const { url, headers } of lent) {
        expect(url).toMatch(/^\/lent\//);
        expect(headers.authorization).toBe(`Bearer ${SENT.own}`);
        expect(whole({ ...headers, authorization: '' })).not.toContain(SENT.own);
      }
      expect(gossip.seen.filter(({ url }) => url.startsWith('/lent/'))).toHaveLength(lent.length);
    },
  );

  it(
    verifies('ops.log.no-secrets', 'says no secret in a log line, an answer or a metric'),
    async () => {
      expect(
        gossip.seen.some(({ headers }) => headers.authorization?.includes(SECRETS.provider)),
      ).toBe(true);
      expect(gossip.seen.some(({ url }) => url.includes(SECRETS.api))).toBe(true);
      expect(gossip.seen.some(({ url }) => url.includes(SECRETS.hook))).toBe(true);
      expect(gateway.log()).toContain('m/e500');
      expectNowhere(gateway.log(), all(), 'the log');
      expectNowhere(answered, all(), 'an answer');
    },
  );

  // What commands print, and what lies on the disk, is the same whatever the log looks like.
  it.runIf(format === FORMATS[0])(
    verifies(
      'cli.output.redaction',
      'is asked by every command that looks, and none shows a secret',
    ),
    async () => {
      const env = { ...ENV, GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
      let said = '';
      const commands = [
        'dump',
        'plan -f gateway.yaml',
        'diff -f gateway.yaml',
        'drift -f gateway.yaml',
        'validate -f gateway.yaml',
        'explain provider',
        'doctor',
        'config view',
        'config view --show-origin',
        'logs',
        'usage',
        'whoami',
        'keys list',
        'providers get gossip',
        'models explain m/ok',
        'apis list',
        'credentials list',
        'deployments list',
        'runs list',
        'sessions list',
        'webhooks list',
        'api GET /admin/v1/requests',
        'schema',
        'selftest',
      ];
      const forms = ['--debug', '-o json --debug'];
      for (const [index, words] of commands.entries()) {
        // In each commit every command in one of the forms.
        const own = forms[(index + numberOfCommit()) % forms.length]!;
        for (const form of IS_ALL ? forms : [own]) {
          const argv = [...words.split(' '), ...form.split(' ')];
          const { stdout, stderr } = await runCli(argv, { env, cwd: directory });
          said += `$ ${words}\n${stdout}${stderr}\n`;
        }
      }
      expect(said).toContain('gossip');
      expectNowhere(said, all(), 'the output of a command');
    },
  );

  it.runIf(format === FORMATS[0])(
    verifies('store.secrets.encrypted', 'writes no secret to its disk, and none to a backup'),
    async () => {
      const { code, stderr } = await runCli(['store', 'backup', join(directory, 'backup')], {
        cwd: directory,
        env: ENV,
      });
      expect(stderr, stderr).not.toMatch(/error/i);
      expect(code).toBe(0);
      const { admin = '', ...rest } = all();
      const files = await bytesBelow(directory);
      expect([...files.keys()].some((path) => path.includes('backup'))).toBe(true);
      for (const [path, bytes] of files) {
        expectNowhere(bytes, rest, path);
        // Whoever starts the gateway finds its key there, and nobody else.
        if (!path.endsWith('admin.key')) expectNowhere(bytes, { admin }, path);
      }
    },
  );
});

it('a process that a fault ends, or a promise that nobody awaited leaves running, says no secret of it', async () => {
  const fault = `const fault = new Error('NOAUTH Bearer ' + process.env.PROVIDER);
    fault.command = { args: [process.env.MASTER] };
    fault.cause = { password: process.env.API };`;
  const hook = `process.on('SIGURG', () => { ${fault} Promise.reject(fault) });
    process.on('SIGWINCH', () => { ${fault} throw fault });`;
  const options = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
  const config = { providers: [{ name: 'mock', type: 'mock' }] };
  const env = { ...ENV, NODE_OPTIONS: options };
  const broken = await startGateway(config, { binary: true, env });
  onTestFinished(async () => void (await broken.stop()));
  const exit = once(broken.child!, 'exit');
  const faults = (): number => broken.log().split('NOAUTH').length - 1;
  broken.child!.kill('SIGURG');
  await eventually(() => faults() > 0);
  expect((await broken.call('GET', '/healthz')).status).toBe(200);
  const seen = faults();
  broken.child!.kill('SIGWINCH');
  expect(await exit).toEqual([1, null]);
  await eventually(() => faults() > seen);
  expectNowhere(broken.log(), SECRETS, 'the last words');
});
