import { describe, expect, it } from 'vitest';
import { apply, readActual } from '../../src/config/apply/apply.ts';
import { converge, type StoredSecret } from '../../src/config/apply/converge.ts';
import { dump } from '../../src/config/actual/dump.ts';
import { configJsonSchema } from '../../src/config/schema/json-schema.ts';
import { kindOf } from '../../src/config/objects/kinds.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { ownerFor, plan, type PlanOptions } from '../../src/config/plan/plan.ts';
import type { ResourceClient } from '../../src/config/actual/resource-client.ts';
import { resolveAllSecrets } from '../../src/config/read/secrets.ts';
import { bootstrap } from '../../src/resources/bootstrap.ts';
import { createResourceClient } from '../../src/server/compose/resource-client.ts';
import { verifies } from '../requirements.ts';
import { makeResources } from '../resources/make-resources.ts';
import { memoryFiles } from './memory-files.ts';

const FILE = `
version: 1
agents: [{ name: coder, model: acme/fast }]
deployments:
  - name: report
    agent_id: "\${ref:agent.coder.id}"
    initial_events:
      - { type: user.message, content: [{ type: text, text: Report. }] }
    schedule: { type: cron, expression: "0 7 * * 1-5", timezone: Europe/Berlin }
    agent_config: { model: acme/slow, system: " Be brief. " }
    timeout_policy: { idle_timeout_seconds: 60 }
    notification_settings: { chat_webhook_url: "\${secret:env:HOOK}" }
    metadata: { team: a }
  - name: by hand
    runtime: { type: agent, model: acme/fast }
    initial_events: [{ type: user.message, content: [{ type: text, text: Go. }] }]
`;

const HOOK = 'https://hooks.slack.com/services/T0/B0/canary7c2f';
const env = { HOOK };

const load = (text: string) =>
  loadConfig({
    paths: ['gateway.yaml'],
    env,
    cwd: '/gw',
    files: memoryFiles({ '/gw/gateway.yaml': text }),
  });

async function makeGateway() {
  const { repository } = makeResources();
  await bootstrap(repository);
  const client = createResourceClient(repository);
  const secretMatches = async ({ kind, id, field, value }: StoredSecret) => {
    const definition = repository.definitionOf(kindOf(kind).definition.kind);
    const stored = await repository.find(definition, id, { organization: null });
    return stored !== undefined && repository.reveal(stored, field) === value;
  };
  const desiredOf = async (text: string) => {
    const { config, diagnostics } = await load(text);
    if (!config) throw new Error(JSON.stringify(diagnostics));
    return config.desired;
  };
  return {
    client,
    run: async (text: string, variables: Record<string, string> = env) => {
      const sources = { env: variables, files: memoryFiles({}) };
      return converge({ desired: await desiredOf(text), client, sources, secretMatches });
    },
    applyText: async (text: string, mode: PlanOptions['mode']) => {
      const desired = await desiredOf(text);
      const planning = { desired, actual: await readActual(client, desired), mode };
      const { secrets } = await resolveAllSecrets(desired, { env, files: memoryFiles({}) });
      const planned = plan(planning);
      const owner = ownerFor(planning);
      const report = await apply({ plan: planned, desired, owner, client, secrets });
      return { planned, report };
    },
  };
}

describe('declared Schedules', () => {
  it(
    verifies(
      'config.format',
      'cli.apply.order',
      'cli.apply.idempotent',
      'are made behind their Agents, and then left alone',
    ),
    async () => {
      const { client, run } = await makeGateway();
      const first = await run(FILE);
      expect(first.diagnostics).toEqual([]);
      expect(first.report?.applied.map(({ kind, identity }) => `${kind} ${identity}`)).toEqual([
        'agent default/coder',
        'deployment default/by hand',
        'deployment default/report',
      ]);
      const [agent] = await client.list('agent');
      const [report] = (await client.list('deployment')).filter(({ name }) => name === 'report');
      expect(report).toMatchObject({
        agent: { type: 'agent', id: agent?.id, version: 1 },
        agent_config: { model: { id: 'acme/slow' }, system: ' Be brief. ' },
        schedule: { expression: '0 7 * * 1-5', timezone: 'Europe/Berlin' },
        chat_webhook_configured: true,
        status: 'active',
      });
      expect(JSON.stringify(first)).not.toContain('canary');
      const second = await run(FILE);
      expect(second.plan?.actions.flatMap(({ changes }) => changes)).toEqual([]);
    },
  );

  it(
    verifies(
      'cli.plan.no-secrets',
      'deployments.notification.write-only',
      'are changed where they differ, the webhook too, which no plan shows',
    ),
    async () => {
      const { client, run } = await makeGateway();
      await run(FILE);
      const changed = FILE.replace('0 7', '30 7').replace('team: a', 'crew: b');
      const next = await run(changed, { HOOK: `${HOOK}8` });
      expect(next.diagnostics).toEqual([]);
      const changes = next.plan?.actions.flatMap((action) => action.changes);
      expect(changes?.map(({ path }) => path).sort()).toEqual([
        'metadata.crew',
        'metadata.team',
        'notification_settings',
        'schedule.expression',
      ]);
      expect(changes).toContainEqual(
        expect.objectContaining({ new: '${secret:env:HOOK}', old: 'configured', secret: true }),
      );
      expect(JSON.stringify(next)).not.toContain('canary');
      expect((await run(changed, { HOOK: `${HOOK}8` })).plan?.summary.total).toBe(0);
      const without = changed.replace('"${secret:env:HOOK}"', 'null');
      const removed = await run(without);
      expect(removed.plan?.actions.flatMap((action) => action.changes)).toMatchObject([
        { path: 'notification_settings', old: 'configured', new: null },
      ]);
      for (const { chat_webhook_configured } of await client.list('deployment')) {
        expect(chat_webhook_configured).toBe(false);
      }
      expect((await run(without)).plan?.summary.total).toBe(0);
    },
  );

  it(
    verifies('cli.apply.prune', 'are archived when they are gone, or deleted where they say so'),
    async () => {
      const { client, applyText } = await makeGateway();
      const text = FILE.replace(
        '  - name: by hand',
        '  - name: by hand\n    lifecycle: { prune: delete }',
      );
      expect((await applyText(text, 'apply')).report.failed).toEqual([]);
      const { objects, managed } = (await load(text)).config!.desired;
      const { deployments } = dump({ actual: await readActual(client, { objects, managed }) });
      expect(deployments).toMatchObject([
        { name: 'report', notification_settings: { chat_webhook_url: expect.any(String) } },
        { name: 'by hand', lifecycle: { prune: 'delete' } },
      ]);
      const { report } = await applyText('version: 1\ndeployments: []\n', 'prune');
      expect(report.failed).toEqual([]);
      expect(report.applied.map(({ action, identity }) => `${action} ${identity}`).sort()).toEqual([
        'archive default/report',
        'delete default/by hand',
      ]);
      expect(await client.list('deployment')).toEqual([]);
    },
  );

  it(
    verifies(
      'cli.validate.offline',
      'cli.validate.position',
      'config.secrets-by-reference',
      'have cron, time zone, events and the webhook checked offline, in place',
    ),
    async () => {
      const text = `version: 1
agents: [{ name: a, model: m }]
deployments:
  - name: one
    agent_id: "\${ref:agent.nobody.id}"
    initial_events: [{ type: user.message, content: [{ type: text, text: Go. }] }]
    schedule: { type: cron, expression: "0 25 * * *", timezone: Europe/Berlyn }
    notification_settings: { chat_webhook_url: "https://hooks.slack.com/services/a/b/c" }
  - name: two
    agent_id: "\${ref:agent.a.id}"
    initial_events: [{ type: system.message, content: [{ type: text, text: Go. }] }]
    scedule: null
`;
      const { diagnostics } = await load(text);
      const found = diagnostics.map(({ line, column, path }) => `${line}:${column} ${path}`);
      expect(found.sort()).toEqual(
        [
          '5:15 deployments[0].agent_id',
          '7:41 deployments[0].schedule.expression',
          '7:65 deployments[0].schedule.timezone',
          '8:48 deployments[0].notification_settings.chat_webhook_url',
          '11:21 deployments[1].initial_events',
          '12:5 deployments[1].scedule',
        ].sort(),
      );
      expect(JSON.stringify(diagnostics)).not.toContain('hooks.slack.com');
    },
  );

  it('are in the schema of the file', () => {
    const { properties } = configJsonSchema() as { properties: Record<string, unknown> };
    expect(properties).toHaveProperty('deployments');
  });

  describe('as paused', () => {
    const PAUSED = FILE.replace('metadata:', 'paused: true\n    metadata:');
    const report = async (client: ResourceClient) =>
      (await client.list('deployment')).find(({ name }) => name === 'report')!;

    it(
      verifies(
        'cli.schedules.declared-paused',
        'are made so in one write, shown where they are not, and let run when they no longer are',
      ),
      async () => {
        const { client, applyText } = await makeGateway();
        const first = await applyText(PAUSED, 'apply');
        expect(first.report.failed).toEqual([]);
        const made = await report(client);
        expect(made).toMatchObject({ status: 'paused', paused: true, version: 1 });
        expect((await applyText(PAUSED, 'apply')).planned.summary.total).toBe(0);

        await client.act('deployment', made.id, 'unpause');
        const drifted = await applyText(PAUSED, 'apply');
        const changed = drifted.planned.actions.find(({ id }) => id === made.id);
        expect(changed?.changes).toMatchObject([
          { path: 'paused', old: false, new: true, origin: 'server' },
        ]);
        expect(await report(client)).toMatchObject({ status: 'paused' });

        const off = await applyText(PAUSED.replace('paused: true', 'paused: false'), 'apply');
        expect(off.planned.actions.find(({ id }) => id === made.id)?.changes).toMatchObject([
          { path: 'paused', old: true, new: false, origin: 'configuration' },
        ]);
        expect(await report(client)).toMatchObject({ status: 'active', paused_reason: null });
      },
    );

    it('stay paused when their Agent changes, also when they were running', async () => {
      const { client, applyText } = await makeGateway();
      const kinder = (text: string) => text.replace('name: coder,', 'name: coder, system: Kind.,');
      await applyText(FILE, 'apply');
      const moved = await applyText(kinder(PAUSED), 'apply');
      expect(moved.report.failed).toEqual([]);
      expect(await report(client)).toMatchObject({ status: 'paused', agent_version: 2 });
      expect((await applyText(kinder(PAUSED), 'apply')).planned.summary.total).toBe(0);
    });

    it('say so in a dump, and others say nothing; a pause by hand is none of the files', async () => {
      const { client, applyText } = await makeGateway();
      await applyText(FILE, 'apply');
      const managed = new Set(['deployment', 'agent', 'organization'] as const);
      const dumped = async () =>
        (
          dump({ actual: await readActual(client, { managed, objects: [] }) })['deployments'] as {
            name: string;
          }[]
        ).find(({ name }) => name === 'report');
      expect(await dumped()).not.toHaveProperty('paused');
      await client.act('deployment', (await report(client)).id, 'pause');
      expect(await dumped()).toHaveProperty('paused', true);
      expect((await applyText(FILE, 'apply')).planned.summary.total).toBe(0);
    });
  });
});
