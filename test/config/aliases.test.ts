import { describe, expect, it } from 'vitest';
import { converge } from '../../src/config/apply/converge.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { formatDiagnostics } from '../../src/config/source/diagnostic.ts';
import { bootstrap } from '../../src/resources/bootstrap.ts';
import { createResourceClient } from '../../src/server/compose/resource-client.ts';
import { verifies } from '../requirements.ts';
import { makeResources } from '../resources/make-resources.ts';

const HEAD = `version: 1
providers:
  - { name: anthropic, type: mock, models: all }
  - { name: openai, type: mock, models: [gpt-*] }
  - { name: closed, type: mock }
models:
  - { name: acme/fast, routes: [{ provider: closed }] }
`;

async function load(stdin: string) {
  const { config, diagnostics } = await loadConfig({ paths: ['-'], stdin, env: {}, cwd: '/' });
  const text = formatDiagnostics(diagnostics, 'text').replaceAll(/\n\s+hint: /g, '; ');
  return { config, text };
}

const judge = async (aliases: string): Promise<string> => (await load(HEAD + aliases)).text;

describe('the section aliases', () => {
  it('is a mapping of names or a list, and is kept as declared', async () => {
    const { repository } = makeResources();
    await bootstrap(repository);
    const client = createResourceClient(repository);
    const run = async (aliases: string) => {
      const { config, text } = await load(HEAD + aliases);
      expect(text).toBe('');
      const { desired } = config ?? expect.fail('not loaded');
      const options = { desired, client, sources: { env: {} } as never, secretMatches: () => true };
      const { report, diagnostics } = await converge(options);
      expect(diagnostics).toEqual([]);
      return report?.applied
        .filter(({ kind }) => kind === 'alias')
        .map(({ action, identity }) => `${action} ${identity}`);
    };
    const first = `aliases:
  claude-*: anthropic/claude-*
  quick: { model: acme/fast, labels: { team: core } }
`;
    expect(await run(first)).toEqual(['create claude-*', 'create quick']);
    expect(await client.list('alias')).toMatchObject([
      { name: 'claude-*', model: 'anthropic/claude-*', enabled: true },
      { name: 'quick', model: 'acme/fast', labels: { team: 'core' } },
    ]);
    expect(await run(first)).toEqual([]);
    expect(await run('aliases: [{ name: claude-*, model: anthropic/claude-3* }]\n')).toEqual([
      'update claude-*',
      'delete quick',
    ]);
  });

  it(
    verifies('aliases.dead-wildcard', 'a * that can match nothing is an error with its position'),
    async () => {
      expect(await judge('aliases:\n  claude-*: anthropc/claude-*\n')).toBe(
        'stdin:9:13: error: aliases[0].model: anthropc/claude-* can match nothing: no model and ' +
          'no provider serves such a name; did you mean anthropic/claude-*?',
      );
      expect(await judge('aliases:\n  - { name: o*, model: openai/o* }\n')).toBe(
        'stdin:9:24: error: aliases[0].model: openai/o* can match nothing: no model and ' +
          'no provider serves such a name; the provider openai serves gpt-*',
      );
      expect(await judge('aliases: { c*: closed/c* }\n')).toContain(
        'add models: all to the provider closed, which serves declared models alone',
      );
      const alone = 'version: 1\nproviders: [{ name: a, type: mock }]\naliases: { c*: b/c* }\n';
      expect((await load(alone)).text).toContain('b/c* can match nothing');
      expect(await judge('aliases: { gpt-*: openai/gpt-*, "*": acme/* }\n')).toBe('');
    },
  );

  it.each([
    ['{ fast: acme/fats }', 'no model is named acme/fats, and no provider serves it; did you mean'],
    ['{ a: acme/fast, b: a }', 'a is an alias, and an alias leads to a model'],
    ['{ acme/fast: openai/gpt-5 }', 'the model acme/fast stands before an alias of that name'],
    ['{ fast: openai/gpt-* }', 'has a * that stands for nothing; write one in the name, too'],
    ['{ "a*b*": openai/gpt-5 }', 'at most one *'],
    ['{ fast: 7 }', 'aliases[0].model'],
    ['{ fast: { modle: acme/fast } }', 'unknown field modle; did you mean model?'],
  ])('refuses %s', async (aliases, message) => {
    expect(await judge(`aliases: ${aliases}\n`)).toContain(message);
  });

  it('leaves to the server what the file does not declare', async () => {
    const { text } = await load('version: 1\naliases: { claude-*: anthropic/claude-*, f: a/b }\n');
    expect(text).toBe('');
  });
});

it('a declared model with * is refused with what to write instead', async () => {
  const text = await judge('').then(
    async () => (await load(HEAD.replace('acme/fast', 'claude-*'))).text,
  );
  expect(text).toContain('no *; names with * stand under aliases, or in the models of a provider');
  expect(text).toContain('stdin:7:');
});
