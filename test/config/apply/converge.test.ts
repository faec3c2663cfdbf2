import { describe, expect, it } from 'vitest';
import { converge } from '../../../src/config/apply/converge.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { FakeServer } from '../fake-server.ts';
import { memoryFiles } from '../memory-files.ts';

const ENV = { KEY: 'sk-canary-one', CLIENT_KEY: 'sk-canary-client-key' };

const FILE = `
version: 1
organizations: [{ name: default, spending_limit: 5 }]
providers:
  - { name: openai, type: openai, api_key: "\${secret:env:KEY}" }
  - { name: spare, type: mock }
models:
  - { name: a/b, routes: [{ provider: openai }, { provider: spare }] }
  - { name: a/c, routes: [{ provider: spare }] }
keys: [{ name: client, value: "\${secret:env:CLIENT_KEY}" }]
`;

async function run(server: FakeServer, text: string, env: Record<string, string> = ENV) {
  const files = memoryFiles({ '/gw/gateway.yaml': text });
  const { config } = await loadConfig({ paths: ['/gw/gateway.yaml'], env, cwd: '/gw', files });
  server.writes.length = 0;
  const result = await converge({
    desired: config!.desired,
    client: server,
    sources: { env, files },
    secretMatches: async ({ kind, id, field, value }) => {
      const view = (await server.list(kind)).find((one) => one.id === id);
      return server.secrets.get(`${kind} ${String(view?.['name'])} ${field}`) === value;
    },
  });
  return {
    ...result,
    problems: result.diagnostics.map(
      ({ severity, line, path, message }) => `${severity} ${line} ${path}: ${message}`,
    ),
  };
}

async function bootstrapped(): Promise<FakeServer> {
  const server = new FakeServer();
  await server.create('organization', { name: 'default' });
  return server;
}

describe('converge', () => {
  it('makes what the file declares, imports keys, and writes nothing the second time', async () => {
    const server = await bootstrapped();
    const { problems } = await run(server, FILE);
    expect(problems).toEqual([]);
    expect(server.writes).toEqual([
      'update organization spending_limit',
      'create provider openai',
      'create provider spare',
      'create model a/b',
      'create model a/c',
      'create key client',
    ]);
    expect(server.secrets.get('key client value')).toBe('sk-canary-client-key');
    expect((await server.list('model'))[0]?.['labels']).toMatchObject({
      'gateway/owner': 'file:default',
    });
    await run(server, FILE);
    expect(server.writes).toEqual([]);
  });

  it('notices a changed secret without ever showing it', async () => {
    const server = await bootstrapped();
    await run(server, FILE);
    const result = await run(server, FILE, { ...ENV, KEY: 'sk-canary-two' });
    expect(server.writes).toEqual(['update provider api_key,labels']);
    expect(server.secrets.get('provider openai api_key')).toBe('sk-canary-two');
    expect(JSON.stringify(result)).not.toContain('canary');
  });

  it('removes models and providers that it made, and nothing else', async () => {
    const server = await bootstrapped();
    await run(server, FILE);
    await server.create('provider', { name: 'by-hand', type: 'mock' });
    await server.create('model', {
      name: 'of/apply',
      labels: { 'gateway/namespace': 'team' },
    });
    await run(
      server,
      'version: 1\norganizations: []\nkeys: []\nproviders: [{name: spare, type: mock}]\nmodels: []\n',
    );
    expect(server.writes).toEqual([
      'delete model a/c',
      'delete model a/b',
      'delete provider openai',
    ]);
    const left = [
      ...(await server.list('provider')),
      ...(await server.list('model')),
      ...(await server.list('key')),
    ];
    expect(left.map(({ name }) => name)).toEqual(['spare', 'by-hand', 'of/apply', 'client']);
  });

  it('leaves an object of another owner as it is, with a warning', async () => {
    const server = await bootstrapped();
    await server.create('provider', { name: 'spare', type: 'openai', enabled: false });
    await server.create('model', { name: 'a/c', labels: { 'gateway/namespace': 'team' } });
    const { problems } = await run(server, FILE);
    expect(problems).toEqual([
      'warning 6 provider spare: exists already as prov_2 and belongs to the API; left unchanged',
      'warning 9 model a/c: exists already as model_3 and belongs to namespace team; left unchanged',
    ]);
    expect((await server.list('provider'))[0]).toMatchObject({ enabled: false, version: 1 });
    expect(server.writes).toContain('create model a/b');
  });

  it('changes nothing when a secret is missing', async () => {
    const server = await bootstrapped();
    const { problems, plan } = await run(server, FILE, { CLIENT_KEY: 'sk-canary-client-key' });
    expect(plan).toBeUndefined();
    expect(problems).toEqual([
      'error 5 provider openai: api_key: ${secret:env:KEY}: the environment variable KEY is not set',
    ]);
    expect(server.writes).toEqual([]);
  });

  it('warns when the value of a key that exists has changed', async () => {
    const server = await bootstrapped();
    await run(server, FILE);
    const { problems } = await run(server, FILE, { ...ENV, CLIENT_KEY: 'sk-canary-other-client' });
    expect(problems).toEqual([
      'warning 10 key default/client: has another value now; the stored one is kept',
    ]);
    expect(server.writes).toEqual([]);
  });

  it('reports what could not be written, with its place', async () => {
    const server = await bootstrapped();
    server.fault = { on: 'create', name: 'spare', how: 'refused' };
    const { problems } = await run(server, FILE);
    expect(problems).toEqual([
      'error 6 provider spare: refused',
      'error 8 model a/b: waits for provider spare',
      'error 9 model a/c: waits for provider spare',
    ]);
  });
});
