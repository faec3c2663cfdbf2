import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import type { LoadConfigOptions } from '../../../src/config/read/load-config.ts';
import { formatDiagnostics } from '../../../src/config/source/diagnostic.ts';
import { verifies } from '../../requirements.ts';
import { memoryFiles } from '../memory-files.ts';

const problems = (...lines: string[]) => problemsWith({}, ...lines);

async function problemsWith(
  more: Pick<LoadConfigOptions, 'hasStore'>,
  ...lines: string[]
): Promise<string[]> {
  const text = ['version: 1', ...lines].join('\n');
  const { diagnostics } = await loadConfig({
    ...more,
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

describe('the model of an Agent', () => {
  const FILES = [
    'providers: [{ name: mock, type: mock }, { name: open, type: mock, models: [gpt-*] }]',
    'models: [{ name: team/a, routes: [{ provider: mock, upstream_model: echo }] }]',
    'aliases: [{ name: fast, model: team/a }, { name: "any-*", model: "open/gpt-*" }]',
  ];
  const agent = (model: string, more = '') => `agents: [{ name: bot, model: "${model}"${more} }]`;

  it(
    verifies('apply.references-offline', 'is found missing where the files declare all models'),
    async () => {
      expect(await problems(...FILES, agent('team/b'))).toEqual([
        'g.yaml:5:30: error: agents[0].model: no model is named team/b, and no provider serves it',
        '  hint: did you mean team/a?',
      ]);
      expect(await problems(...FILES, 'agents: [{ name: bot, model: { id: mock/gone } }]')).toEqual(
        [
          'g.yaml:5:36: error: agents[0].model.id: no model is named mock/gone, and no provider serves it',
          '  hint: add models: all to the provider mock, which serves declared models alone',
        ],
      );
      const runtime = 'runtime: { type: agent, model: team/b }';
      const [found] = await problems(
        ...FILES,
        `services: [{ name: s, protocols: [rest], ${runtime} }]`,
      );
      expect(found).toContain('services[0].runtime.model: no model is named team/b');
    },
  );

  it(
    verifies('apply.references-offline', 'may be whatever the files or only the server can know'),
    async () => {
      for (const name of ['team/a', 'fast', 'any-5', 'open/gpt-9'])
        expect(await problems(...FILES, agent(name)), name).toEqual([]);
      expect(await problems(agent('any/thing'))).toEqual([]);
      const [providers = '', models = ''] = FILES;
      expect(await problems(providers, agent('any/thing'))).toEqual([]);
      expect(await problems(models, agent('any/thing'))).toEqual([]);
      const harness = ['server: { harnesses: { h: { command: h } } }', ...FILES];
      expect(await problems(...harness, agent('its/own', ', harness: h'))).toEqual([]);
      for (const namespace of ['one', 'default']) {
        const [warned] = await problems(`namespace: ${namespace}`, ...FILES, agent('platform/big'));
        expect(warned).toMatch(
          /warning: .*unless another namespace or the API of the gateway made it$/,
        );
      }
      const [wrong] = await problems('namespace: one', ...FILES, agent('team/big'));
      expect(wrong).toContain('error: agents[0].model: no model is named team/big');
    },
  );
});

describe('the model of an Agent where a store may have it', () => {
  it(
    verifies('apply.references-offline', 'is a warning, whoever declares its vendor'),
    async () => {
      const found = await problemsWith(
        { hasStore: true },
        'providers: [{ name: mock, type: mock }]',
        'models: [{ name: team/a, routes: [{ provider: mock }] }]',
        'agents: [{ name: bot, model: team/b }]',
      );
      expect(found[0]).toMatch(/: warning: agents\[0\].model: no model is named team\/b/);
    },
  );
});

describe('agent_id', () => {
  const agents = 'agents: [{ name: support, model: a/b }]';
  const users = (id: string) => [
    `services: [{ name: s, agent_id: ${id}, protocols: [rest] }]`,
    `deployments: [{ name: d, agent_id: ${id}, initial_events: [{ type: user.message, content: [{ type: text, text: Hi }] }] }]`,
    `credentials: [{ name: c, agent_id: ${id}, scope: mcp, scope_name: x, secret_key: y, value: "\${secret:env:X}" }]`,
  ];

  it(
    verifies('apply.references-offline', 'takes the name of an Agent, and misses none in silence'),
    async () => {
      for (const user of users('support')) expect(await problems(agents, user)).toEqual([]);
      for (const user of users('suport')) {
        const found = await problems(agents, user);
        expect(found[0]).toMatch(/error: \w+\[0\]\.agent_id: no agent is named suport$/);
        expect(found[1]).toBe('  hint: did you mean support?');
      }
      const id = 'agent_01m8kqcdtt000x9yfqrjzvx4ve';
      for (const user of users(id)) expect(await problems(agents, user)).toEqual([]);
    },
  );

  it('is a reference from there on, also for the version', async () => {
    const { config } = await loadConfig({
      paths: ['g.yaml'],
      env: {},
      cwd: '/gw',
      files: memoryFiles({ '/gw/g.yaml': `version: 1\n${agents}\n${users('support')[0]}` }),
    });
    const service = config?.desired.objects.find(({ kind }) => kind === 'service');
    expect(JSON.parse(JSON.stringify(service?.body))).toMatchObject({
      agent_id: '${ref:agent.support.id}',
      agent_version: '${ref:agent.support.version}',
    });
  });
});
