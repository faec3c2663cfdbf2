import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import type { CliRun } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const HOOK = 'https://hooks.slack.com/services/T000/B000/canaryhook';
const SECRETS = { DOCS: 'canary-docs-token-123', HOOK, PROVIDER: 'canary-provider-key' };
const TEAM = `version: 1
namespace: team
organizations:
  - { name: acme, spending_limit: { day: 5 }, labels: { tier: gold } }
providers:
  - { name: upstream, type: openai, api_key: "\${secret:env:PROVIDER}", timeouts: { idle: 30 } }
  - { name: echo, type: mock, mock: { rules: [{ match: { text: hi }, reply: { text: "$\${x}" } }] } }
models:
  - name: team/echo
    pricing: { input: 0.15, output: "0.60" }
    fallbacks: [team/spare]
    routes: [{ provider: echo, weight: 2 }, { provider: upstream, priority: 1 }]
  - { name: team/spare, routes: [{ provider: echo }] }
keys:
  - { name: ci, organization: acme, scopes: [inference, models], spending_limit: 3 }
skills:
  - { name: review, files: { SKILL.md: "---\\nname: review\\ndescription: reviews\\n---\\nRead." } }
agents:
  - name: helper
    model: team/echo
    system: "costs $\${price}"
    skills: [{ type: custom, skill_id: "\${ref:skill.review.id}" }]
    mcp_servers: [{ type: url, name: docs, url: "https://example.com/mcp" }]
    tools: [{ type: mcp_toolset, mcp_server_name: docs }]
    metadata: { team: a }
credentials:
  - name: docs token
    agent_id: "\${ref:agent.helper.id}"
    scope: mcp
    scope_name: docs
    secret_key: Authorization
    value: "\${secret:env:DOCS}"
services:
  - name: desk
    slug: desk
    agent_id: "\${ref:agent.helper.id}"
    protocols: [mcp, rest]
    memory_config: { a: null, b: [1, null] }
  - { name: inline, protocols: [acp], runtime: { type: agent, model: team/echo } }
deployments:
  - name: nightly
    agent_id: "\${ref:agent.helper.id}"
    initial_events: [{ type: user.message, content: [{ type: text, text: go }] }]
    schedule: { type: cron, expression: "0 7 * * 1-5", timezone: Europe/Berlin }
    notification_settings: { chat_webhook_url: "\${secret:env:HOOK}" }
  - name: by hand
    runtime: { type: agent, model: team/spare }
    initial_events: [{ type: user.message, content: [{ type: text, text: now }] }]
`;

let gateway: TestGateway;
let cwd: string;
beforeEach(async () => {
  [gateway, cwd] = await Promise.all([startGateway(), emptyDirectory()]);
});
afterEach(() => gateway.stop());

function cli(...argv: string[]): Promise<CliRun> {
  const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey, ...SECRETS };
  return runCli(argv, { cwd, env });
}

async function applied(text: string, ...flags: string[]): Promise<CliRun> {
  await writeFile(join(cwd, 'team.yaml'), text);
  const done = await cli('apply', '-f', 'team.yaml', '--yes', '-o', 'json', ...flags);
  expect([done.code, done.json().data.failed]).toEqual([0, []]);
  return done;
}

const planOf = async (...flags: string[]) =>
  (await cli('plan', '-f', 'team.yaml', '-o', 'json', ...flags)).json().data;

async function named(collection: string, name: string) {
  const { body } = await gateway.admin('GET', `/admin/v1/${collection}?limit=100`);
  return body.data.find((one: { name: string }) => one.name === name);
}

describe('dump', () => {
  it(
    verifies(
      'cli.dump.round-trip',
      'config.format',
      'declares every kind so that its plan changes nothing, with secrets as references alone',
    ),
    async () => {
      await applied(TEAM);
      for (const flags of [[], ['--skip-defaults'], ['--namespace', 'team']]) {
        const { code, stdout } = await cli('dump', ...flags);
        expect(code).toBe(0);
        for (const secret of Object.values(SECRETS)) expect(stdout).not.toContain(secret);
        await writeFile(join(cwd, 'dump.yaml'), stdout);
        const references = Object.fromEntries(
          [...stdout.matchAll(/\$\{secret:env:(\w+)\}/g)].map(([, name = '']) => [
            name,
            SECRETS[
              name.startsWith('PROVIDER')
                ? 'PROVIDER'
                : name.startsWith('CREDENTIAL')
                  ? 'DOCS'
                  : 'HOOK'
            ],
          ]),
        );
        const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
        const planned = await runCli(['plan', '-f', 'dump.yaml', '-o', 'json'], {
          cwd,
          env: { ...env, ...references },
        });
        expect(planned.json().data.summary).toMatchObject({ total: 0 });
        expect(planned.json().data.actions.length).toBeGreaterThanOrEqual(13);
        const tree = parse(stdout);
        expect(tree.namespace).toBe('team');
        expect(JSON.stringify(tree)).not.toMatch(/upcoming_runs_at|created_at|"id":"(agent|ep)_/);
      }
    },
  );

  it('writes one file for each section, and never over another', async () => {
    await applied(TEAM);
    const split = await cli('dump', '--split', 'config', '--kind', 'model,provider');
    expect(split.stdout).toContain('wrote config/models.yaml');
    expect(split.stdout).not.toContain('agents.yaml');
    const planned = await cli('plan', '-f', 'config', '--exit-code');
    expect([planned.code, planned.stderr]).toEqual([0, '']);
    expect((await cli('dump', '--split', 'config', '--kind', 'model')).code).toBe(1);
    expect((await cli('dump', '--split', 'config', '--kind', 'model', '--force')).code).toBe(0);
    expect((await cli('dump', '--kind', 'modle')).code).toBe(64);
  });

  it('wants one namespace', async () => {
    await applied(TEAM);
    await writeFile(
      join(cwd, 'other.yaml'),
      'version: 1\nnamespace: other\nproviders: [{ name: p, type: mock }]\n',
    );
    expect((await cli('apply', '-f', 'other.yaml', '--yes')).code).toBe(0);
    const refused = await cli('dump');
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain('other, team');
  });
});

describe('a saved plan', () => {
  it(
    verifies('cli.plan.file', 'is bound, readable, free of secrets, and applied as it is'),
    async () => {
      await writeFile(join(cwd, 'team.yaml'), TEAM);
      expect((await cli('plan', '-f', 'team.yaml', '--out', 'plan.json')).code).toBe(0);
      const text = await readFile(join(cwd, 'plan.json'), 'utf8');
      for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
      expect(JSON.parse(text).plan).toMatchObject({
        mode: 'apply',
        target: { server: gateway.url, organization: '*' },
      });
      const shown = await cli('plan', 'show', 'plan.json');
      expect(shown.stdout).toContain('+ create model team/echo');
      const done = await cli('apply', '-f', 'team.yaml', '--plan', 'plan.json', '-o', 'json');
      expect([done.code, done.json().data.applied.length]).toEqual([0, 13]);
      await cli('plan', '-f', 'team.yaml', '--out', 'none.json');
      const none = JSON.parse(await readFile(join(cwd, 'none.json'), 'utf8'));
      expect(none.plan.summary.total).toBe(0);
    },
  );

  it(
    verifies(
      'cli.apply.stale-plan',
      'is refused whole when an object, the files or the server is another',
    ),
    async () => {
      await applied(TEAM);
      await writeFile(join(cwd, 'team.yaml'), TEAM.replace('weight: 2', 'weight: 3'));
      await cli('plan', '-f', 'team.yaml', '--out', 'plan.json');
      const before = await named('models', 'team/echo');
      const refuse = async (file: string, ...words: string[]) => {
        const refused = await cli('apply', '-f', file, '--plan', 'plan.json');
        expect(refused.code).toBe(5);
        for (const word of words) expect(refused.stderr).toContain(word);
      };
      await writeFile(join(cwd, 'edited.yaml'), TEAM.replace('weight: 2', 'weight: 4'));
      await refuse('edited.yaml', 'the files changed', 'gateway plan --out');
      const saved = JSON.parse(await readFile(join(cwd, 'plan.json'), 'utf8'));
      saved.plan.target.server = 'https://elsewhere.example';
      await writeFile(join(cwd, 'elsewhere.json'), JSON.stringify(saved));
      const elsewhere = await cli('apply', '-f', 'team.yaml', '--plan', 'elsewhere.json');
      expect([elsewhere.code, elsewhere.stderr]).toEqual([
        5,
        expect.stringContaining('https://elsewhere.example'),
      ]);
      await gateway.admin('PATCH', `/admin/v1/models/${before.id}`, { description: 'by hand' });
      await refuse('team.yaml', 'model team/echo', 'description changed since', 'version');
      expect((await named('models', 'team/echo')).routes[0].weight).toBe(2);
      expect((await cli('apply', '-f', 'team.yaml', '--plan', 'none.json')).code).toBe(64);
    },
  );
});

describe('--write-secret', () => {
  it('writes what is declared, with or without its organization, and refuses another name', async () => {
    await applied(TEAM);
    for (const name of ['credential/docs token#value', 'credential/default/docs token#value']) {
      expect((await planOf('--write-secret', name)).summary).toMatchObject({ update: 1, total: 1 });
    }
    const wrong = await cli(
      'apply',
      '-f',
      'team.yaml',
      '--yes',
      '--write-secret',
      'credential/x#value',
    );
    expect([wrong.code, wrong.stderr]).toEqual([
      3,
      expect.stringContaining('credential/default/docs token#value'),
    ]);
  });
});

describe('drift', () => {
  it(
    verifies('cli.drift', 'cli.diff.exit-code', 'lists what others changed, apart from the files'),
    async () => {
      await applied(TEAM);
      expect((await cli('drift', '-f', 'team.yaml', '--exit-code')).code).toBe(0);
      const { id } = await named('models', 'team/echo');
      await gateway.admin('PATCH', `/admin/v1/models/${id}`, { pricing: { input: '9' } });
      await writeFile(
        join(cwd, 'team.yaml'),
        TEAM.replace('name: team/spare', 'description: x, name: team/spare'),
      );
      const found = await cli('drift', '-f', 'team.yaml', '--exit-code', '-o', 'json');
      expect(found.code).toBe(2);
      expect(found.json().data).toMatchObject({
        drifted: [
          {
            kind: 'model',
            identity: 'team/echo',
            changes: [{ field: 'pricing', origin: 'server' }, {}],
          },
        ],
        pending: 1,
      });
      expect((await cli('drift', '-f', 'team.yaml')).code).toBe(0);
    },
  );
});

describe('apply --prune', () => {
  it(
    verifies(
      'cli.apply.prune-confirm',
      'wants the number of many removals or of a whole kind, and spares what is protected',
    ),
    async () => {
      const files = (names: readonly string[]) =>
        `version: 1\nnamespace: team\nproviders: [${names.map((name) => `{ name: ${name}, type: mock }`).join()}, { name: kept, type: mock, lifecycle: { protected: true } }]\n`;
      const many = Array.from({ length: 14 }, (_, index) => `p${index}`);
      await applied(files(many));
      const prune = async (names: readonly string[], ...flags: string[]) => {
        await writeFile(join(cwd, 'team.yaml'), files(names));
        return cli('apply', '-f', 'team.yaml', '--yes', '--prune', ...flags);
      };
      const count = async () =>
        (await gateway.admin('GET', '/admin/v1/providers?limit=100')).body.data.length;
      const unsaid = await prune(many.slice(0, 3));
      expect([unsaid.code, unsaid.stderr]).toEqual([
        64,
        expect.stringContaining('--confirm-prune 11'),
      ]);
      expect((await prune(many.slice(0, 3), '--confirm-prune', '10')).code).toBe(64);
      expect(await count()).toBe(15);
      expect((await prune(many.slice(0, 3), '--confirm-prune', '11')).code).toBe(0);
      expect(await count()).toBe(4);
      expect((await prune(many.slice(0, 1))).code).toBe(0);
      const bare = 'version: 1\nnamespace: team\nproviders: []\n';
      await writeFile(join(cwd, 'team.yaml'), bare);
      const emptied = await cli('apply', '-f', 'team.yaml', '--yes', '--prune');
      expect(emptied.code).toBe(0);
      expect(await named('providers', 'kept')).toBeDefined();
      await gateway.admin('POST', '/admin/v1/models', {
        name: 'team/only',
        labels: { 'gateway/namespace': 'team' },
        routes: [{ provider: 'kept' }],
      });
      await writeFile(join(cwd, 'team.yaml'), 'version: 1\nnamespace: team\nmodels: []\n');
      const whole = await cli('apply', '-f', 'team.yaml', '--yes', '--prune');
      expect([whole.code, whole.stderr]).toEqual([
        64,
        expect.stringContaining('--confirm-prune 1'),
      ]);
    },
  );
});

describe('adopt', () => {
  it(
    verifies('cli.apply.ownership', 'takes what nobody owns and fails for what others own'),
    async () => {
      await gateway.admin('POST', '/admin/v1/providers', { name: 'echo', type: 'mock' });
      const text = 'version: 1\nnamespace: team\nproviders: [{ name: echo, type: mock }]\n';
      await writeFile(join(cwd, 'team.yaml'), text);
      const adopted = await cli('adopt', 'provider/echo', '-f', 'team.yaml', '--yes', '-o', 'json');
      expect(adopted.json().data).toMatchObject({ adopted: [{ identity: 'echo' }] });
      expect((await named('providers', 'echo')).labels).toMatchObject({
        'gateway/namespace': 'team',
      });
      await writeFile(join(cwd, 'team.yaml'), text.replace('team', 'thieves'));
      const refused = await cli('adopt', '-f', 'team.yaml', '--yes');
      expect([refused.code, refused.stderr]).toEqual([
        5,
        expect.stringContaining('namespace team'),
      ]);
    },
  );
});

describe('what cannot be changed in place', () => {
  it(
    verifies(
      'cli.plan.replace-reason',
      'is replaced with --allow-replace alone, and the plan names the field and the new id',
    ),
    async () => {
      await applied(TEAM);
      const { id } = await named('services', 'inline');
      const text = TEAM.replace(
        'runtime: { type: agent, model: team/echo }',
        'agent_id: "${ref:agent.helper.id}"',
      );
      await writeFile(join(cwd, 'team.yaml'), text);
      const planned = await cli('plan', '-f', 'team.yaml');
      expect(planned.stdout).toContain('± replace service default/inline');
      expect(planned.stdout).toContain('it gets a new id');
      const refused = await cli('apply', '-f', 'team.yaml', '--yes');
      expect([refused.code, refused.stderr]).toEqual([
        64,
        expect.stringContaining('--allow-replace'),
      ]);
      expect((await named('services', 'inline')).id).toBe(id);
      await applied(text, '--allow-replace');
      expect((await named('services', 'inline')).id).not.toBe(id);
      expect((await planOf()).summary.total).toBe(0);
    },
  );
});

describe('a moved entry', () => {
  it(verifies('cli.apply.rename', 'keeps the object under its new name'), async () => {
    await applied(TEAM);
    const { id } = await named('services', 'desk');
    const renamed = TEAM.replace('- name: desk', '- name: helpdesk');
    await writeFile(join(cwd, 'team.yaml'), renamed);
    expect((await planOf()).prunable).toMatchObject([
      { kind: 'service', identity: 'default/desk' },
    ]);
    await applied(`${renamed}moved: [{ kind: service, from: desk, to: helpdesk }]\n`);
    expect((await named('services', 'helpdesk')).id).toBe(id);
    expect(await named('services', 'desk')).toBeUndefined();
  });
});

describe('validate --online', () => {
  it(
    verifies('cli.validate.online', 'finds what only the server knows, and writes nothing'),
    async () => {
      await applied(TEAM);
      await writeFile(
        join(cwd, 'more.yaml'),
        `version: 1
namespace: team
agents:
  - { name: typo, model: team/ecco }
services:
  - { name: second, slug: desk, agent_id: "\${ref:agent.nobody.id}", protocols: [rest] }
`,
      );
      expect((await cli('validate', '-f', 'more.yaml')).code).toBe(3);
      await writeFile(
        join(cwd, 'more.yaml'),
        `version: 1
namespace: team
services:
  - { name: second, slug: desk, agent_id: "\${ref:agent.nobody.id}", protocols: [rest] }
  - { name: third, runtime: { type: agent, model: team/ecco }, protocols: [rest] }
`,
      );
      expect((await cli('validate', '-f', 'more.yaml')).code).toBe(0);
      const epoch = (await gateway.admin('GET', '/admin/v1/services')).body;
      const found = await cli('validate', '-f', 'more.yaml', '--online');
      expect(found.code).toBe(3);
      expect(found.stdout).toContain('more.yaml:4:5');
      expect(found.stdout).toContain('no agent is named nobody');
      expect(found.stdout).toContain('desk is the slug of ep_');
      expect(found.stdout).toMatch(/no model is named team\/ecco[^]*team\/echo/);
      expect((await gateway.admin('GET', '/admin/v1/services')).body).toEqual(epoch);
      await writeFile(join(cwd, 'team.yaml'), TEAM);
      expect((await cli('validate', '-f', 'team.yaml', '--online')).code).toBe(0);
    },
  );
});

describe('delete', () => {
  it('removes what the files declare and their namespace owns, dependents first', async () => {
    await applied(TEAM);
    const dry = await cli('delete', '-f', 'team.yaml', '--dry-run', '-o', 'json');
    expect(dry.json().data.summary).toMatchObject({ remove: 13, create: 0, update: 0 });
    await writeFile(
      join(cwd, 'part.yaml'),
      TEAM.slice(0, TEAM.indexOf('keys:')).replace(/organizations:\n.*\n/, ''),
    );
    const refused = await cli('delete', '-f', 'part.yaml', '--yes');
    expect(refused.code).not.toBe(64);
    const services =
      TEAM.slice(0, TEAM.indexOf('organizations:')) + TEAM.slice(TEAM.indexOf('services:'));
    await writeFile(join(cwd, 'services.yaml'), services);
    const done = await cli('delete', '-f', 'services.yaml', '--yes');
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('4 applied')]);
    expect(await named('services', 'desk')).toBeUndefined();
    expect(await named('agents', 'helper')).toBeDefined();
  });
});

describe('explain', () => {
  it(verifies('cli.schema', 'tells type, default and update rule of every key'), async () => {
    const weight = await cli('explain', 'model.routes.weight');
    expect(weight.stdout).toMatch(
      /type: +number or reference[^]*default: +1[^]*update: +changed in place/,
    );
    expect((await cli('explain', 'service.runtime')).stdout).toContain('--allow-replace');
    expect((await cli('explain', 'provider.api_key')).stdout).toContain('write-only');
    const wrong = await cli('explain', 'model.rotes');
    expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining('routes')]);
  });
});
