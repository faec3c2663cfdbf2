import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { CONFIG_KINDS } from '../../src/config/objects/kinds.ts';
import { verifies } from '../requirements.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { runCli } from './run-cli.ts';

let gateway: TestGateway;
afterEach(() => gateway?.stop());

const HOOK = 'https://hooks.slack.com/services';
const message = { type: 'user.message', content: [{ type: 'text', text: 'report' }] };
const agent_id = '${ref:agent.plain-word.id}';
/** An object of each kind that has a secret; every name is a text that is a secret elsewhere. */
const FILES = {
  version: 1,
  namespace: 'canaries',
  providers: [
    { name: 'plain-word', type: 'openai', api_key: '${secret:env:PROVIDER}' },
    { name: 'mock', type: 'mock' },
  ],
  models: [{ name: 'acme/one', description: 'plain-word', routes: [{ provider: 'mock' }] }],
  apis: [{ name: 'shop', base_url: 'https://api.example.com', api_key: '${secret:env:API}' }],
  keys: [{ name: 'imported', value: '${secret:env:KEY}' }],
  agents: [{ name: 'plain-word', model: 'acme/one', system: 'plain-word' }],
  credentials: [
    {
      name: 'plain-word',
      agent_id,
      scope: 'mcp',
      scope_name: 'shop',
      secret_key: 'SHOP_TOKEN',
      value: '${secret:env:CREDENTIAL}',
    },
  ],
  deployments: [
    {
      name: 'report',
      agent_id,
      initial_events: [message],
      notification_settings: { chat_webhook_url: '${secret:env:WEBHOOK}' },
    },
  ],
};
const SECRETS = [
  'provider/plain-word#api_key',
  'api/shop#api_key',
  'credential/default/plain-word#value',
];
const OLD = {
  PROVIDER: 'canary-provider-old',
  API: 'canary-api-old',
  KEY: 'sk-canaryoldcanaryoldcanaryoldcanaryold1',
  CREDENTIAL: 'canary-credential-old',
  WEBHOOK: `${HOOK}/T0001/B0001/canary_webhook_old`,
};
const NEW = {
  PROVIDER: 'canary-provider-new',
  API: 'canary-api-new',
  KEY: 'sk-canarynewcanarynewcanarynewcanarynew1',
  CREDENTIAL: 'canary-credential-new',
  WEBHOOK: `${HOOK}/T0001/B0001/canary_webhook_new`,
};
/** What the gateway refuses: its answer must not repeat it either. */
const BAD = { ...OLD, WEBHOOK: 'http://canary.invalid/canary_webhook_bad' };

async function start() {
  gateway = await startGateway({});
  const { directory, url, adminKey } = gateway;
  await writeFile(join(directory, 'canaries.yaml'), stringify(FILES));
  let seen = '';
  const run = async (words: string, secrets: Record<string, string>) => {
    const env = { GATEWAY_SERVER: url, GATEWAY_API_KEY: adminKey, ...secrets };
    const done = await runCli(words.split(' '), { env, cwd: directory });
    seen += `$ gateway ${words}\n${done.stdout}${done.stderr}`;
    return done;
  };
  const everyForm = async (words: string, secrets: Record<string, string>) => {
    for (const form of ['--debug', '-o json --debug']) await run(`${words} ${form}`, secrets);
  };
  return { run, everyForm, seen: () => seen };
}

it(
  verifies(
    'cli.output.redaction',
    'no output of any form shows a value at a secret path, neither the old nor the new one',
  ),
  async () => {
    const kinds = CONFIG_KINDS.filter(({ secrets }) => secrets.length > 0);
    for (const { collection } of kinds) expect(Object.keys(FILES)).toContain(collection);
    const { run, everyForm, seen } = await start();
    const file = '-f canaries.yaml';
    for (const words of ['validate', 'plan', 'diff', 'apply --dry-run'])
      await everyForm(`${words} ${file}`, OLD);
    await run(`apply ${file} --yes --debug`, BAD);
    const applied = await run(`apply ${file} --yes --debug`, OLD);
    expect(applied).toMatchObject({ code: 0 });
    const written = SECRETS.map((name) => ` --write-secret ${name}`).join('');
    for (const words of [`plan ${file}${written}`, `diff ${file}${written}`, `drift ${file}`])
      await everyForm(words, NEW);
    const rotated = await run(`apply ${file} --yes --debug -o json${written}`, NEW);
    // The webhook of the Schedule differs, too, and is written without being asked for.
    expect(rotated.json().data.applied).toHaveLength(SECRETS.length + 1);
    for (const words of [
      'dump',
      'providers list',
      'providers get plain-word',
      'keys list',
      'keys get imported',
      'credentials list',
      'credentials get plain-word',
      'deployments list',
      'deployments get report',
      'api GET /v1/deployments?token=canary-query',
      'whoami',
      'doctor --offline',
    ])
      await everyForm(words, NEW);
    expect(seen()).toContain('${secret:env:CREDENTIAL}');
    expect(seen()).toMatch(/POST \/admin\/v1\/credentials → 201/);
    const shown = seen().replaceAll('$ gateway api GET /v1/deployments?token=canary-query', '');
    for (const value of [...Object.values(OLD), ...Object.values(NEW), BAD.WEBHOOK])
      expect(shown).not.toContain(value);
    expect(shown).not.toMatch(
      /canary[-_](?:provider|api|credential|webhook|query)|sk-canary(?:old|new)c/,
    );
  },
  60_000,
);

it(
  verifies(
    'cli.output.redaction',
    'what is no secret is shown as it is, even if it reads like one',
  ),
  async () => {
    const { run } = await start();
    // The same words are the secrets of this configuration, and texts in it.
    const words = { ...OLD, PROVIDER: 'plain-word', CREDENTIAL: 'plain-word' };
    for (const argv of ['plan -f canaries.yaml', 'apply -f canaries.yaml --yes']) {
      const { stdout, code } = await run(argv, words);
      expect(code).toBe(0);
      for (const object of ['provider plain-word', 'agent default/plain-word'])
        expect(stdout).toContain(object);
    }
    const models = await run('models get acme/one -o json', words);
    expect(models.json().data.description).toBe('plain-word');
    const { data } = (await run('agents get plain-word -o json', words)).json();
    expect(data).toMatchObject({ name: 'plain-word', system: 'plain-word' });
    const credential = (await run('credentials get plain-word -o json', words)).json().data;
    expect(credential).toMatchObject({ name: 'plain-word', value_configured: true });
    const { name: _, agent_name: _agent, ...rest } = credential;
    expect(JSON.stringify(rest)).not.toContain('plain-word');
  },
);
