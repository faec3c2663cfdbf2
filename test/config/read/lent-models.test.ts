import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { formatDiagnostics } from '../../../src/config/source/diagnostic.ts';
import { memoryFiles } from '../memory-files.ts';

async function problems(...lines: string[]): Promise<string[]> {
  const text = ['version: 1', ...lines].join('\n');
  const { diagnostics } = await loadConfig({
    paths: ['g.yaml'],
    env: {},
    cwd: '/gw',
    files: memoryFiles({ '/gw/g.yaml': text }),
  });
  return formatDiagnostics(diagnostics, 'text').split('\n').filter(Boolean);
}

const PROVIDERS =
  'providers: [{name: own, type: anthropic, auth: {type: client}, models: all}, {name: second, type: openai, auth: {type: client}}, {name: ours, type: mock}]';
const models = (...routes: string[]) =>
  `models: [{name: m/one, routes: [${routes.join(', ')}]}, {name: m/ours, routes: [{provider: ours}]}, {name: m/over, routes: [{provider: own}], fallbacks: [m/ours]}]`;
const LENT = models('{provider: own}');
const ALIASES = 'aliases: [{name: short, model: m/one}]';

describe('providers with auth: client', () => {
  it.each([
    ['agents: [{name: a, model: m/one}]', 'agents[0].model: m/one'],
    ['agents: [{name: a, model: {id: m/one}}]', 'agents[0].model.id: m/one'],
    ['agents: [{name: a, model: short}]', 'agents[0].model: short'],
    ['agents: [{name: a, model: own/claude}]', 'agents[0].model: own/claude'],
    [
      'services: [{name: s, protocols: [rest], runtime: {type: agent, model: m/one}}]',
      'services[0].runtime.model: m/one',
    ],
  ])('are warned of for %s', async (agent, path) => {
    expect(await problems(PROVIDERS, LENT, ALIASES, agent)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^g.yaml:5:\\d+: warning: ${path.replaceAll(/[[\]{}]/g, String.raw`\$&`)} is served with a credential of the client alone \\(own\\), and an Agent has none$`,
        ),
      ),
      '  hint: give the model a route to a provider with an api_key, or a fallback',
    ]);
  });

  it('may serve an Agent next to a provider with a key, and any other call', async () => {
    const both = models('{provider: own}', '{provider: ours}');
    expect(await problems(PROVIDERS, both, 'agents: [{name: a, model: m/one}]')).toEqual([]);
    expect(await problems(PROVIDERS, LENT, 'agents: [{name: a, model: m/over}]')).toEqual([]);
    expect(await problems(PROVIDERS, LENT, ALIASES)).toEqual([]);
  });

  it('are warned of where a model has a second one, which gets no credential', async () => {
    const two = models('{provider: ours}', '{provider: own}', '{provider: second}');
    expect(await problems(PROVIDERS, two)).toEqual([
      expect.stringMatching(
        /^g\.yaml:3:\d+: warning: models\[0\]\.routes\[2\]\.provider: second is a second provider with auth: client/,
      ),
      '  hint: give each of them a model of its own',
    ]);
  });

  it.each([
    ['auth: {type: client, name: x}', 'providers[0].auth: unrecognized key: "name"', ''],
    [
      'auth: {type: client, token: x}',
      'providers[0].auth.token: unknown field token',
      'known: type, name, prefix',
    ],
    [
      'auth: {type: client}, api_key: "${secret:env:KEY}"',
      'providers[0].api_key: each client sends its own with auth: client',
      'leave api_key out',
    ],
    [
      'auth: {type: client}, headers: {X-Api-Key: abc}',
      'providers[0].headers.x-api-key: x-api-key carries the credential of each client with auth: client',
      'leave it out',
    ],
    [
      'auth: {type: client}, protocols: {messages: true, videos: true}',
      'providers[0].protocols.videos: the gateway asks about videos later and keeps no credential of a client',
      'leave videos out',
    ],
  ])('refuse %s where it is written', async (fields, message, hint) => {
    const found = await problems(`providers: [{name: own, type: anthropic, ${fields}}]`);
    expect(found[0]?.replace(/^g\.yaml:2:\d+: error: /, '')).toBe(message);
    if (hint) expect(found[1]).toBe(`  hint: ${hint}`);
  });
});
