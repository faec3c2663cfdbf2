import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { renderInit, TEMPLATES } from '../../src/config/read/init-template.ts';
import { findVendorKeys } from '../../src/config/read/vendor-keys.ts';
import { configJsonSchema } from '../../src/config/schema/json-schema.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { serverSettings } from '../../src/config/schema/server-config.ts';
import { PROVIDERS } from '../../src/providers/registry.ts';
import { verifies } from '../requirements.ts';
import { memoryFiles } from './memory-files.ts';
import { createAjv } from '../support/schemas/create-ajv.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');

const validate = createAjv({ allErrors: true, logger: false }).compile(configJsonSchema());

it(verifies('secrets.exec', 'no template names a command of a secret'), async () => {
  for (const template of TEMPLATES) {
    const texts = Object.entries(await renderInit({ template, foundEnvKeys: [] }));
    const named = texts.filter(
      ([path, text]) => !path.endsWith('.json') && text.includes('secret:exec'),
    );
    expect(named).toEqual([]);
  }
});

async function expectValid(text: string, beside: Readonly<Record<string, string>> = {}) {
  const others = Object.entries(beside).map(([path, content]) => [`/gw/${path}`, content]);
  const files = memoryFiles({ ...Object.fromEntries(others), '/gw/gateway.yaml': text });
  const { diagnostics, config } = await loadConfig({
    paths: ['gateway.yaml'],
    env: {},
    cwd: '/gw',
    files,
  });
  expect(diagnostics).toEqual([]);
  for (const document of parseAllDocuments(text)) {
    validate(document.toJS());
    expect(validate.errors ?? []).toEqual([]);
  }
  return config!;
}

/** Takes the comment signs off the examples that the text keeps switched off. */
function uncommented(text: string): string {
  const [head, ...body] = text.split(/^(?=server:)/m);
  const example = /^( *)# ((?:- name:|keys:|apis:| {2}|(?:log|limits|compat): \{).*)$/gm;
  return head + body.join('').replace(example, '$1$2');
}

describe('templates and examples', () => {
  it.each(TEMPLATES)(
    '%s has what every one has, and is valid without any variable',
    async (template) => {
      const files = await renderInit({ template, foundEnvKeys: [] });
      expect(Object.keys(files)).toEqual(
        expect.arrayContaining([
          '.github/workflows/gateway.yml',
          '.gateway/schema.json',
          '.gitignore',
          'README.md',
          'gateway.yaml',
          'tests/gateway.test.mjs',
          'tests/start-gateway.mjs',
        ]),
      );
      await expectValid(files['gateway.yaml'] ?? '', files);
      expect(files['gateway.yaml']).toMatch(
        /^# yaml-language-server: \$schema=\.\/\.gateway\/schema\.json\n/,
      );
      expect(JSON.parse(files['.gateway/schema.json'] ?? '')).toEqual(configJsonSchema());
    },
  );

  it.each(TEMPLATES)(
    verifies('cli.init.compat', '%s keeps the switch for model lists of every client, off'),
    async (template) => {
      const files = await renderInit({ template, foundEnvKeys: [] });
      const text = files['gateway.yaml'] ?? '';
      const switchedOn = text.replace(/^( *)# (compat: \{ model_lists: true \})$/m, '$1$2');
      expect(switchedOn).not.toBe(text);
      expect((await expectValid(text, files)).server.compat.modelLists).toBe(false);
      expect((await expectValid(switchedOn, files)).server.compat.modelLists).toBe(true);
    },
  );

  it('env adds a provider with all of its models for each vendor key, by name', async () => {
    const env = {
      ANTHROPIC_BASE_URL: 'http://localhost:8787',
      GOOGLE_GEMINI_BASE_URL: 'https://gemini.example',
      ANTHROPIC_API_KEY: 'sk-canary',
      GEMINI_API_KEY: 'sk-canary',
      GOOGLE_API_KEY: 'sk-canary',
      OPENAI_API_KEY: '',
      XAI_API_KEY: 'sk-canary',
    };
    const all = [...PROVIDERS.values()];
    expect(findVendorKeys(env, all, 8787).leftOut).toEqual([
      { provider: 'anthropic', because: 'ANTHROPIC_BASE_URL is the address of this gateway' },
    ]);
    const { found: foundEnvKeys } = findVendorKeys({ ...env, ANTHROPIC_BASE_URL: '' }, all, 8787);
    expect(foundEnvKeys).toEqual([
      { provider: 'anthropic', variable: 'ANTHROPIC_API_KEY' },
      {
        provider: 'google',
        variable: 'GEMINI_API_KEY',
        addressVariable: 'GOOGLE_GEMINI_BASE_URL',
      },
      { provider: 'xai', variable: 'XAI_API_KEY' },
    ]);
    const files = await renderInit({ template: 'env', foundEnvKeys });
    expect(JSON.stringify(files)).not.toContain('canary');
    const { diagnostics, config } = await loadConfig({
      paths: ['-'],
      stdin: files['gateway.yaml'] ?? '',
      env,
      cwd: '/gw',
    });
    expect(diagnostics).toEqual([]);
    const { objects } = config?.desired ?? expect.fail('not loaded');
    const providers = objects.filter(({ kind }) => kind === 'provider').map(({ body }) => body);
    expect(providers.map(({ name, models }) => [name, models])).toEqual([
      ['anthropic', 'all'],
      ['google', 'all'],
      ['mock', undefined],
      ['xai', 'all'],
    ]);
    expect(providers[1]?.['base_url']).toBe('https://gemini.example');
    const aliases = objects.filter(({ kind }) => kind === 'alias');
    expect(aliases.map(({ name, body }) => [name, body['model']])).toEqual([
      ['claude-*', 'anthropic/claude-*'],
      ['gemini-*', 'google/gemini-*'],
      ['grok-*', 'xai/grok-*'],
    ]);
  });

  it('the example is valid, and so is everything that it keeps commented out', async () => {
    const example = await read('gateway.yaml.example');
    await expectValid(example);
    const { desired } = await expectValid(uncommented(example));
    expect(desired.objects.map(({ identity }) => identity)).toEqual(
      expect.arrayContaining(['openai', 'local', 'openai/gpt-5', 'mock/failover', 'default/ci']),
    );
  });

  it(
    verifies('cli.schema', 'the JSON Schema takes every example of the documentation'),
    async () => {
      const page = await read('docs/configuration.md');
      const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text!);
      expect(examples.length).toBeGreaterThan(1);
      for (const text of examples) {
        validate(parse(text));
        expect(validate.errors ?? []).toEqual([]);
      }
    },
  );

  it('the documentation lists every server setting with its variable', async () => {
    const page = await read('docs/configuration.md');
    const [, table = ''] = /<!-- settings -->([\s\S]*)<!-- \/settings -->/.exec(page) ?? [];
    const rows = table.split('\n').filter((line) => line.startsWith('| `'));
    expect(rows.map((row) => row.replace(/ +\|/g, ' |').replace(/\| +/g, '| '))).toEqual(
      serverSettings().map(
        ({ path, env, description }) => `| \`${path}\` | \`${env}\` | ${description} |`,
      ),
    );
  });
});

describe('configJsonSchema', () => {
  it.each([
    [{ version: 1, modles: [] }, '', 'additionalProperties'],
    [{ version: 1, providers: [{ name: 'p' }] }, '/providers/0', 'required'],
    [
      { providers: [{ name: 'p', type: 'openai', api_key: 'sk-1' }] },
      '/providers/0/api_key',
      'pattern',
    ],
    [
      { models: [{ name: 'a', routes: [{ provider: 'p', wieght: 1 }] }] },
      '/models/0/routes/0',
      'additionalProperties',
    ],
    [{ server: { listen: { port: 'x' } } }, '/server/listen/port', 'pattern'],
    [{ models: null }, '/models', 'type'],
  ])('refuses %j', (value, path, keyword) => {
    expect(validate(value)).toBe(false);
    expect(validate.errors).toContainEqual(
      expect.objectContaining({ instancePath: path, keyword }),
    );
  });

  it('takes references where numbers, booleans and secrets stand', () => {
    const value = {
      server: { listen: { port: '${env:PORT}' }, log: { content: '${env:KEEP:-false}' } },
      providers: [{ name: 'p', type: 'openai', api_key: '${secret:env:KEY}' }],
      keys: [{ name: 'k', value: '${secret:file:/run/key}', rpm_cap: '${env:CAP}' }],
    };
    validate(value);
    expect(validate.errors ?? []).toEqual([]);
  });
});
