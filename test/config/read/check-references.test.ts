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

const AGENT = 'agent_id: "${ref:agent.bot.id}", protocols: [rest]';

describe('a reference to what belongs to an organization', () => {
  const agents = (owner: string) => [
    'organizations: [{name: acme}]',
    `agents: [{name: bot, model: m, ${owner}}]`,
  ];

  it('does not reach into another one', async () => {
    expect(
      await problems(...agents('organization: acme'), `services: [{name: desk, ${AGENT}}]`),
    ).toEqual([
      'g.yaml:4:35: error: services[0].agent_id: no agent is named bot in organization default',
      '  hint: acme has one of this name, but an object refers to its own organization alone',
    ]);
    expect(
      await problems(
        ...agents('organization: default'),
        `services: [{name: desk, organization: acme, ${AGENT}}]`,
      ),
    ).toEqual([
      'g.yaml:4:55: error: services[0].agent_id: no agent is named bot in organization acme',
      '  hint: default has one of this name, but an object refers to its own organization alone',
    ]);
  });

  it('finds what its own one declares', async () => {
    const owners = ['organization: acme', 'organization: "${ref:organization.acme.name}"'];
    for (const agent of owners)
      for (const service of owners)
        expect(
          await problems(...agents(agent), `services: [{name: desk, ${service}, ${AGENT}}]`),
        ).toEqual([]);
  });

  it('is left to the server where one of the two says an id', async () => {
    expect(
      await problems(
        ...agents('organization: org_1'),
        `services: [{name: desk, organization: acme, ${AGENT}}]`,
      ),
    ).toEqual([]);
    const [other] = await problems(
      ...agents('organization: org_1'),
      `services: [{name: desk, organization: org_2, ${AGENT}}]`,
    );
    expect(other).toContain('no agent is named bot in organization org_2');
  });
});

describe('moved', () => {
  const KEYS = ['organizations: [{name: first}]', 'keys: [{name: ci}, '];
  const keys = (rest: string) => [KEYS[0]!, `${KEYS[1]}${rest}]`];

  it('compares names within the organization', async () => {
    const move = 'moved: [{kind: key, organization: first, from: ci, to: ci2}]';
    expect(await problems(...keys('{name: ci2, organization: first}'), move)).toEqual([]);
    expect(await problems(...keys('{name: ci, organization: first}, {name: ci2}'), move)).toEqual([
      'g.yaml:4:48: error: moved[0].from: ci is still declared',
      expect.any(String),
    ]);
    expect(await problems(...keys('{name: ci2}'), move)).toEqual([
      'g.yaml:4:56: error: moved[0].to: ci2 is not declared',
      '  hint: declare it in organization first, or correct the entry',
    ]);
    expect(
      await problems(...keys('{name: ci2}'), 'moved: [{kind: key, from: " old", to: " ci2 "}]'),
    ).toEqual([]);
  });

  it('refuses a second entry for one name, and a second one from it', async () => {
    const models = 'models: [{name: a/new, routes: []}, {name: a/other, routes: []}]';
    expect(
      await problems(
        models,
        'moved:',
        '  - {kind: model, from: a/one, to: a/new}',
        '  - {kind: model, from: a/two, to: a/new}',
        '  - {kind: model, from: a/one, to: a/other}',
      ),
    ).toEqual([
      'g.yaml:5:36: error: moved[1].to: another object moves to a/new already',
      '  hint: the first is at g.yaml:4:5; remove one of them',
      'g.yaml:6:25: error: moved[2].from: a/one moves elsewhere already',
      '  hint: the first is at g.yaml:4:5; remove one of them',
    ]);
  });
});

describe('fallbacks', () => {
  it('form a cycle also where a name has blanks around it', async () => {
    expect(
      await problems(
        'models:',
        '  - {name: "a/b ", fallbacks: [c/d], routes: []}',
        '  - {name: c/d, fallbacks: [a/b], routes: []}',
      ),
    ).toEqual([
      'g.yaml:4:29: error: models[1].fallbacks[0]: the fallbacks form a cycle: a/b → c/d → a/b',
      '  hint: remove one of them',
    ]);
  });
});
