import { describe, expect, it } from 'vitest';
import { apply, readActual } from '../../src/config/apply/apply.ts';
import { converge, type StoredSecret } from '../../src/config/apply/converge.ts';
import { configJsonSchema } from '../../src/config/schema/json-schema.ts';
import { kindOf } from '../../src/config/objects/kinds.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { ownerFor, plan, type PlanOptions } from '../../src/config/plan/plan.ts';
import { resolveAllSecrets } from '../../src/config/read/secrets.ts';
import { bootstrap } from '../../src/resources/bootstrap.ts';
import { createResourceClient } from '../../src/server/compose/resource-client.ts';
import { verifies } from '../requirements.ts';
import { makeResources } from '../resources/make-resources.ts';
import { memoryFiles } from './memory-files.ts';

const SKILL = '---\nname: review\ndescription: Reviews code.\n---\nRead it.\n';

const FILE = `
version: 1
organizations: [{ name: default }, { name: acme }]
skills:
  - name: review
    files: { SKILL.md: "\${file:review.md}", notes.txt: one }
agents:
  - name: coder
    model: { id: acme/fast, effort: high }
    system: " Be brief. "
    metadata: { team: a, gone: b }
    mcp_servers: [{ type: url, name: docs, url: "https://docs.example/mcp" }]
    tools:
      - { type: agent_toolset_20260401, configs: [{ name: bash, enabled: false }] }
      - { type: mcp_toolset, mcp_server_name: docs }
    skills: [{ type: custom, skill_id: "\${ref:skill.review.id}" }]
  - { name: coder, organization: acme, model: acme/slow }
credentials:
  - name: docs token
    agent_id: "\${ref:agent.coder.id}"
    scope: mcp
    scope_name: " docs "
    secret_key: TOKEN
    value: "\${secret:env:TOKEN}"
    weight: 2
services:
  - name: coder
    slug: coder
    agent_id: "\${ref:agent.coder.id}"
    protocols: [mcp, rest]
    session_metadata: { from: yaml }
    memory_config: { deep: null }
  - { name: coder, organization: acme, agent_id: "\${ref:agent.coder.id}", protocols: [rest] }
  - { name: quick, runtime: { type: agent, model: acme/fast }, protocols: [acp] }
`;

const env = { TOKEN: 'canary-1234567890' };

async function load(text: string, skill = SKILL) {
  const sources = memoryFiles({ '/gw/gateway.yaml': text, '/gw/review.md': skill });
  return loadConfig({ paths: ['gateway.yaml'], env, cwd: '/gw', files: sources });
}

async function makeGateway() {
  const { repository } = makeResources();
  await bootstrap(repository);
  const client = createResourceClient(repository);
  const secretMatches = async ({ kind, id, field, value }: StoredSecret) => {
    const definition = repository.definitionOf(kindOf(kind).definition.kind);
    const stored = await repository.find(definition, id, { organization: null });
    return stored !== undefined && repository.reveal(stored, field) === value;
  };
  return {
    client,
    repository,
    run: async (text: string, { skill = SKILL, variables = env } = {}) => {
      const { config, diagnostics } = await load(text, skill);
      if (!config) throw new Error(JSON.stringify(diagnostics));
      const sources = { env: variables, files: memoryFiles({}) };
      return converge({ desired: config.desired, client, sources, secretMatches });
    },
  };
}

describe('what organizations keep, as declared', () => {
  it('is made in the order of references, and then left alone', async () => {
    const { client, run } = await makeGateway();
    const first = await run(FILE);
    expect(first.diagnostics).toEqual([]);
    const named = ({ kind, identity }: { kind: string; identity: string }) => `${kind} ${identity}`;
    const changes = first.plan?.actions.filter(({ action }) => action !== 'none').map(named);
    expect(changes).toEqual([
      'organization acme',
      'skill default/review',
      'agent acme/coder',
      'agent default/coder',
      'credential default/docs token',
      'service acme/coder',
      'service default/coder',
      'service default/quick',
    ]);
    // Several are written at once, so some are done before others that began earlier.
    expect(first.report?.applied.map(named).toSorted()).toEqual(changes?.toSorted());
    const agents = await client.list('agent');
    const services = await client.list('service');
    for (const { organization, agent_id: id } of services.filter(({ name }) => name === 'coder')) {
      expect(agents.find((agent) => agent.id === id)?.['organization']).toBe(organization);
    }
    const second = await run(FILE);
    expect(second.plan?.actions.flatMap(({ changes }) => changes)).toEqual([]);
    expect(second.plan?.summary.total).toBe(0);
  });

  it(
    verifies(
      'cli.apply.idempotent',
      'moves a Service that names no version with its Agent, in one go',
    ),
    async () => {
      const { client, run } = await makeGateway();
      await run(FILE);
      const changed = FILE.replace('Be brief.', 'Be kind.');
      const next = await run(changed);
      expect(next.diagnostics).toEqual([]);
      const moved = next.plan?.actions.filter(({ action }) => action !== 'none');
      expect(moved?.map(({ kind, identity }) => `${kind} ${identity}`)).toEqual([
        'agent default/coder',
        'service default/coder',
      ]);
      expect(moved?.[1]?.changes).toMatchObject([
        { path: 'agent_version', old: '1', new: '2', origin: 'configuration' },
      ]);
      const versionOf = async () =>
        (await client.list('service')).find(({ slug }) => slug === 'coder')?.['agent_version'];
      expect(await versionOf()).toBe('2');
      expect((await run(changed)).plan?.summary.total).toBe(0);

      const stated = changed.replace('slug: coder', 'slug: coder\n    agent_version: 2');
      expect((await run(stated)).plan?.summary.total).toBe(0);
      const fixed = await run(stated.replace('Be kind.', 'Be quick.'));
      expect(fixed.plan?.summary).toMatchObject({ update: 1 });
      expect(await versionOf()).toBe('2');
      // Without it the Service catches up with what it has missed.
      await run(changed.replace('Be kind.', 'Be quick.'));
      expect(await versionOf()).toBe('3');
    },
  );

  it('leaves a Service where it is when its Agent does not change, or only its labels', async () => {
    const { client, run } = await makeGateway();
    await run(FILE);
    const { plan: labelled } = await run(FILE.replace('system:', 'labels: { a: b }\n    system:'));
    expect(labelled?.summary).toMatchObject({ update: 1 });
    expect((await client.list('agent')).map(({ version }) => version)).toEqual([1, 1]);
  });

  it('is changed where it differs: maps, files, secrets and the version of an Agent', async () => {
    const { client, run } = await makeGateway();
    await run(FILE);
    const changed = FILE.replace('team: a, gone: b', 'team: c')
      .replace('notes.txt: one', 'notes.txt: two')
      .replace('slug: coder', 'agent_version: 2')
      .replace('weight: 2', 'weight: 3');
    const next = await run(changed, { variables: { TOKEN: 'canary-other-0987654321' } });
    expect(next.diagnostics).toEqual([]);
    const paths = next.plan?.actions.flatMap(({ changes }) => changes.map(({ path }) => path));
    expect(paths).toEqual([
      'files.notes.txt',
      'metadata.gone',
      'metadata.team',
      'value',
      'weight',
      'agent_version',
    ]);
    const [coder] = (await client.list('agent')).filter(
      ({ metadata }) => 'team' in Object(metadata),
    );
    expect(coder).toMatchObject({ version: 2, metadata: { team: 'c' } });
    expect(await client.list('service')).toContainEqual(
      expect.objectContaining({ agent_id: coder?.id, agent_version: '2' }),
    );
    expect((await client.list('credential'))[0]).toMatchObject({
      weight: 3,
      value_hint: 'can…321',
    });
    const again = await run(changed, { variables: { TOKEN: 'canary-other-0987654321' } });
    expect(again.plan?.summary.total).toBe(0);
    const text = await run(changed, {
      skill: SKILL.replace('Read it', 'Read all'),
      variables: { TOKEN: 'canary-other-0987654321' },
    });
    expect(text.report?.applied).toMatchObject([{ kind: 'skill', identity: 'default/review' }]);
  });

  it('is pruned with dependents first: Agents archived, Credentials disabled', async () => {
    const { client } = await makeGateway();
    const applyText = async (text: string, mode: PlanOptions['mode']) => {
      const { config } = await load(text);
      const desired = config!.desired;
      const planning = { desired, actual: await readActual(client, desired), mode };
      const { secrets } = await resolveAllSecrets(desired, { env, files: memoryFiles({}) });
      const owner = ownerFor(planning);
      return apply({ plan: plan(planning), desired, owner, client, secrets });
    };
    expect((await applyText(FILE, 'apply')).failed).toEqual([]);
    const none = 'version: 1\nskills: []\nagents: []\ncredentials: []\nservices: []\n';
    const pruned = await applyText(none, 'prune');
    expect(pruned.failed).toEqual([]);
    expect(pruned.applied.map(({ action, kind }) => `${action} ${kind}`)).toEqual([
      'delete service',
      'delete service',
      'delete service',
      'disable credential',
      'archive agent',
      'archive agent',
      'delete skill',
    ]);
    expect(await client.list('agent')).toEqual([]);
    expect((await client.list('credential'))[0]).toMatchObject({ status: 'disabled' });
    expect((await applyText(none, 'prune')).applied).toEqual([]);
  });
});

describe('validation of what organizations keep', () => {
  const problems = async (text: string) =>
    (await load(text)).diagnostics.map(
      ({ line, column, path, message }) => `${line}:${column} ${path} ${message}`,
    );

  it(
    verifies(
      'cli.validate.unknown-field',
      'names unknown fields, missing names, and parts that do not fit together, in place',
    ),
    async () => {
      const text = `version: 1
agents:
  - { name: a, model: m, sytem: x }
  - name: b
    tools:
      - { type: mcp_toolset, mcp_server_name: docs }
credentials:
  - { agent_id: "\${ref:agent.nobody.id}", scope: mcp, scope_name: docs, secret_key: K }
services:
  - { name: s, runtime: { type: container }, protocols: [] }
`;
      expect(await problems(text)).toEqual([
        '3:26 agents[0].sytem unknown field sytem',
        '4:5 agents[1].model is required without a harness',
        '8:5 credentials[0].name is required',
        '8:17 credentials[0].agent_id no agent is named nobody',
        '10:33 services[0].runtime.type the only supported type is `agent`',
        '10:57 services[0].protocols too small: expected array to have >=1 items',
      ]);
    },
  );

  it('refuses a literal secret', async () => {
    const text = `version: 1
credentials: [{ name: c, agent_id: a, scope: s, scope_name: n, secret_key: k, value: plain }]
`;
    expect(await problems(text)).toEqual([
      '2:86 credentials[0].value a secret must not be written in the file',
    ]);
  });

  it('is in the schema of the file', () => {
    const { properties } = configJsonSchema() as { properties: Record<string, unknown> };
    for (const section of ['skills', 'agents', 'credentials', 'services']) {
      expect(properties).toHaveProperty(section);
    }
  });
});
