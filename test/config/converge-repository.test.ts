import { describe, expect, it } from 'vitest';
import { apply, readActual } from '../../src/config/apply/apply.ts';
import { converge, type StoredSecret } from '../../src/config/apply/converge.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { ownerFor, plan, type PlanOptions } from '../../src/config/plan/plan.ts';
import { resolveAllSecrets } from '../../src/config/read/secrets.ts';
import { bootstrap } from '../../src/resources/bootstrap.ts';
import { createResourceClient } from '../../src/server/compose/resource-client.ts';
import { makeResources } from '../resources/make-resources.ts';
import { memoryFiles } from './memory-files.ts';

const env = { KEY: 'sk-canary-openai', CLIENT_KEY: 'sk-canary-client-key' };
const files = memoryFiles({});

const FILE = `
version: 1
organizations:
  - { name: default, spending_limit: 5 }
  - { name: acme, spending_limit: { day: "1.5" } }
providers:
  - name: openai
    type: openai
    api_key: "\${secret:env:KEY}"
    timeouts: { idle: 30, total: 5m }
  - { name: spare, type: mock, mock: { rules: [{ reply: { text: hi, usage: null } }] } }
models:
  - name: acme/fast
    type: llm
    capabilities: [vision, tools]
    pricing: { input: 0.15 }
    fallbacks: [acme/slow]
    routes:
      - { provider: openai, protocols: [responses, chat], min_throughput: { bytes_per_second: 5, over: 2 } }
      - { provider: spare, priority: 1 }
  - { name: acme/slow, routes: [{ provider: spare }] }
keys:
  - { name: client, value: "\${secret:env:CLIENT_KEY}" }
  - { name: ci, organization: acme, scopes: [models, inference], expires_at: "2030-01-01T00:00:00+01:00" }
`;

async function load(text: string) {
  const sources = memoryFiles({ '/gw/gateway.yaml': text });
  const options = { paths: ['gateway.yaml'], env, cwd: '/gw', files: sources };
  return (await loadConfig(options)).config!.desired;
}

describe('converge on the repository', () => {
  it('reaches the declared state and then writes nothing', async () => {
    const { repository } = makeResources();
    await bootstrap(repository);
    const client = createResourceClient(repository);
    const secretMatches = async ({ kind, id, field, value }: StoredSecret) => {
      if (kind === 'key') return value === env.CLIENT_KEY;
      const definition = repository.definitionOf(kind);
      const stored = await repository.find(definition, id, { organization: null });
      return stored !== undefined && repository.reveal(stored, field) === value;
    };
    const run = async (text: string, variables = env) =>
      converge({
        desired: await load(text),
        client,
        sources: { env: variables, files },
        secretMatches,
      });

    const first = await run(FILE);
    expect(first.diagnostics).toEqual([]);
    expect(first.plan?.summary).toMatchObject({ create: 7, update: 1 });
    expect(first.report?.issued.map(({ identity }) => identity)).toEqual(['acme/ci']);
    const desired = await load(FILE);
    const before = JSON.stringify(await readActual(client, desired));
    const second = await run(FILE);
    expect(second.plan?.actions.flatMap(({ changes }) => changes)).toEqual([]);
    expect(JSON.stringify(await readActual(client, desired))).toBe(before);

    const rotated = await run(FILE, { ...env, KEY: 'sk-canary-rotated' });
    expect(rotated.report?.applied).toMatchObject([{ kind: 'provider', identity: 'openai' }]);
    expect(rotated.diagnostics).toEqual([]);

    const emptied = await run('version: 1\nproviders: []\nmodels: []\nkeys: []\n');
    expect(emptied.diagnostics).toEqual([]);
    expect(emptied.plan?.summary).toMatchObject({ remove: 4, total: 4 });
    expect(await client.list('provider')).toEqual([]);
    expect(await client.list('key')).toHaveLength(4);
  });

  it('is left alone by apply, and leaves alone what apply made', async () => {
    const { repository } = makeResources();
    await bootstrap(repository);
    const client = createResourceClient(repository);
    const desired = await load(FILE);
    const { secrets } = await resolveAllSecrets(desired, { env, files });
    const planning: PlanOptions = {
      desired,
      actual: await readActual(client, desired),
      mode: 'apply',
    };
    const owner = ownerFor(planning);
    const report = await apply({ plan: plan(planning), desired, owner, client, secrets });
    expect(report.failed).toEqual([]);
    const again = plan({ ...planning, actual: await readActual(client, desired) });
    expect(again.summary.total).toBe(0);

    const started = await converge({
      desired: await load(
        'version: 1\nproviders: []\nmodels: [{ name: acme/slow, enabled: false }]\n',
      ),
      client,
      sources: { env, files },
      secretMatches: () => true,
    });
    expect(started.diagnostics).toMatchObject([
      { severity: 'warning', path: 'model acme/slow', line: 3 },
    ]);
    expect(started.plan?.summary.total).toBe(0);
  });

  it('tells of an object that it cannot tell apart or find, and makes the others', async () => {
    const { repository } = makeResources();
    await bootstrap(repository);
    const client = createResourceClient(repository);
    const bot = { name: 'bot', organization: 'default', model: 'acme/fast' };
    const ids = [await client.create('agent', bot), await client.create('agent', bot)].map(
      ({ id }) => id,
    );
    const started = await converge({
      desired: await load(`
version: 1
agents:
  - { name: bot, model: acme/slow }
  - { name: other, model: acme/slow }
keys:
  - { name: pinned, id: key_doesnotexist }
`),
      client,
      sources: { env, files },
      secretMatches: () => true,
    });
    expect(started.diagnostics).toEqual([
      {
        file: 'gateway.yaml',
        line: 4,
        column: 5,
        path: 'agent default/bot',
        severity: 'warning',
        message: `matches several objects: ${ids.join(', ')}; left unchanged`,
        hint: 'add the `id:` of the intended object beside its name, or remove the others',
      },
      {
        file: 'gateway.yaml',
        line: 7,
        column: 5,
        path: 'key default/pinned',
        severity: 'warning',
        message: 'is pinned to the id key_doesnotexist, which nothing has; left unchanged',
        hint: 'remove `id` to create it again, or give the id of the intended object',
      },
    ]);
    expect(started.report?.applied).toMatchObject([{ identity: 'default/other' }]);
  });
});
