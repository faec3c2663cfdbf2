import { describe, expect, it } from 'vitest';
import { flagsOfKind } from '../../../src/cli/write/kind-flags.ts';
import { CONFIG_KINDS } from '../../../src/config/objects/kinds.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';

const complete = async (...words: string[]): Promise<string[]> =>
  (await runCli(['complete-words', '--', ...words])).stdout.trimEnd().split('\n');

describe('flags of create and update', () => {
  it(
    verifies('cli.create.from-flags', 'follow from the fields of each kind: none is without one'),
    () => {
      for (const { kind, definition } of CONFIG_KINDS) {
        const flags = flagsOfKind(kind, 'create');
        const given = new Set(flags.map(({ path }) => path[0]));
        const fields = Object.keys(definition.fields.shape).filter((name) => name !== 'labels');
        const constant = new Set(['multiagent', 'execution_identity', 'strategy']);
        const missing = fields.filter((name) => !given.has(name) && !constant.has(name));
        expect(missing, kind).toEqual([]);
        const names = flags.map(({ spec }) => spec.name);
        expect(new Set(names).size, kind).toBe(names.length);
      }
    },
  );

  it('have no update for what cannot change', () => {
    const names = flagsOfKind('service', 'update').map(({ spec }) => spec.name);
    expect(names).not.toContain('organization');
    expect(names).toContain('slug');
  });

  it('take names of secrets where a field is secret', () => {
    const secrets = CONFIG_KINDS.flatMap(({ kind }) =>
      flagsOfKind(kind, 'create').filter(({ holds }) => holds === 'secret'),
    );
    expect(secrets.map(({ spec }) => [spec.name, spec.value])).toEqual([
      ['api-key', 'env:NAME'],
      ['tls.key', 'env:NAME'],
      ['api-key', 'env:NAME'],
      ['value', 'env:NAME'],
      ['value', 'env:NAME'],
      ['notification-settings.chat-webhook-url', 'env:NAME'],
    ]);
  });

  it('are completed, with their values, and shown by help', async () => {
    expect(await complete('models', 'create', '--ro')).toEqual(['--route', '--routes']);
    expect(await complete('models', 'create', '--strategy', '')).toEqual([
      'priority',
      'least_latency',
      'sticky',
    ]);
    expect(await complete('models', 'add', '--pricing.input')).toContain('--pricing.input');
    for (const words of [
      ['help', 'schedules', 'create'],
      ['schedules', 'create', '--help'],
    ])
      expect((await runCli(words)).stdout, words.join(' ')).toContain('--cron CRON');
    expect((await runCli(['help', 'env'])).stdout).toContain('GATEWAY_DEPLOYMENTS_CREATE_CRON');
  });

  it('are read wherever the global flags stand', async () => {
    const words = ['models', 'create', 'a', '--route', 'one', '-o', 'yaml'];
    const { stdout } = await runCli(['--timeout', '5s', ...words]);
    expect(stdout).toBe('version: 1\nmodels:\n  - name: a\n    routes:\n      - provider: one\n');
  });

  it('come from the environment, too', async () => {
    const env = { GATEWAY_MODELS_CREATE_ROUTE: 'one,two=b' };
    const { stdout } = await runCli(['models', 'create', 'a', '-o', 'yaml'], { env });
    expect(stdout).toContain('- provider: two\n        upstream_model: b\n');
  });

  it.each([
    [['--context-window', '5'], 'context_window: 5'],
    [['--enabled', 'false'], 'enabled: false'],
    [['--description', 'true'], 'description: "true"'],
    [['--pricing.input', '0.5'], 'input: "0.5"'],
    [['--fallbacks', 'b', '--fallbacks', 'c'], 'fallbacks:\n      - b\n      - c\n'],
    [['--set', 'fallbacks=[b, c]'], 'fallbacks:\n      - b\n      - c\n'],
    [['--set', 'routes[0].provider=b', '--set', 'routes[0].weight=2'], 'weight: 2'],
    [['--set', 'schema.properties.x.type=string'], 'type: string'],
    [['--set', 'labels["team/a"]=1'], 'team/a: "1"'],
    [['--route', 'b', '--set', 'routes[0].enabled=false'], 'enabled: false'],
  ])('%j is written as a file says it', async (words, expected) => {
    const argv = ['models', 'create', 'a', ...words, '-o', 'yaml'];
    const { stdout, stderr } = await runCli(argv);
    expect(stdout, stderr).toContain(expected);
  });
});
