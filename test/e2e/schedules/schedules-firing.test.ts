import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const CONFIG = {
  providers: [{ name: 'acme', type: 'mock' }],
  models: [
    { name: 'acme/one', pricing: { input: '1', output: '1' }, routes: [{ provider: 'acme' }] },
  ],
};
const WITHIN_MS = 30_000;
const MINUTELY = { type: 'cron', expression: '* * * * *', timezone: 'Europe/Berlin' };
const initial_events = [{ type: 'user.message', content: [{ type: 'text', text: 'Report.' }] }];

describe('Schedules of a whole gateway', () => {
  let gateway: TestGateway;
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  beforeAll(async () => {
    gateway = await startGateway(CONFIG, { clock });
  });
  afterAll(() => gateway.stop());

  /** A Schedule that is due in a second from now. */
  async function make(key: string): Promise<string> {
    const body = { name: 'reporter', model: 'acme/one' };
    const agent = await gateway.call('POST', '/v1/agents', { key, body });
    aheadMs += 59_000 - (clock.now() % 60_000);
    const made = await gateway.call('POST', '/v1/deployments', {
      key,
      body: { name: 'report', agent_id: agent.body.id, initial_events, schedule: MINUTELY },
    });
    expect(made.status).toBe(201);
    return made.body.id;
  }

  const get = async (path: string, key = gateway.clientKey) =>
    (await gateway.call('GET', path, { key })).body;

  const firstRun = (id: string, key = gateway.clientKey) =>
    eventually(async () => {
      const { data = [] } = await get(`/v1/deployments/${id}/runs`, key);
      const [run] = data;
      return run && (run.session_id ?? run.error) !== null && run;
    }, WITHIN_MS);

  it(
    verifies(
      'deployments.trigger.scheduled',
      'runs.fields',
      'sessions.turn.billing',
      'begin Sessions that are answered, in the account of their organization',
    ),
    { timeout: 60_000 },
    async () => {
      const id = await make(gateway.clientKey);
      const run = await firstRun(id);
      const at = run.trigger_context.scheduled_at;
      expect(run).toMatchObject({
        type: 'deployment_run',
        deployment_id: id,
        trigger_context: { type: 'schedule' },
        error: null,
      });
      expect(Date.parse(at) % 60_000).toBe(0);
      const session = await eventually(async () => {
        const found = await get(`/v1/sessions/${run.session_id}`);
        return found.status === 'idle' && found;
      }, WITHIN_MS);
      expect(session).toMatchObject({ entry_point: 'schedule', deployment_id: id });
      expect(session.usage.output_tokens).toBeGreaterThan(0);
      const shown = await get(`/v1/deployments/${id}`);
      expect(Date.parse(shown.schedule.last_run_at)).toBeGreaterThanOrEqual(Date.parse(at));
      const record = await eventually(async () => {
        const { body } = await gateway.admin('GET', `/admin/v1/requests?key=${id}&status=200`);
        return body.data[0];
      }, WITHIN_MS);
      expect(record).toMatchObject({ surface: 'session', key: { id, name: 'schedule' } });
    },
  );

  it(
    verifies('deployments.trigger.auto-pause', 'are paused when their organization is disabled'),
    { timeout: 60_000 },
    async () => {
      const body = { name: 'other' };
      const owner = (await gateway.admin('POST', '/admin/v1/organizations', body)).body.id;
      const key = (
        await gateway.admin('POST', '/admin/v1/keys', { name: 'k', organization: 'other' })
      ).body.value;
      const enable = (enabled: boolean) =>
        gateway.admin('PATCH', `/admin/v1/organizations/${owner}`, { enabled });
      const id = await make(key);
      await enable(false);
      const { store } = gateway.gateway ?? {};
      await eventually(async () => {
        const rows = await store?.list<{ error: unknown }>({ prefix: ['schedule-run'] });
        return rows?.some(({ value }) => value.error !== null);
      }, WITHIN_MS);
      await enable(true);
      expect((await firstRun(id, key)).error.type).toBe('organization_disabled_error');
      expect(await get(`/v1/deployments/${id}`, key)).toMatchObject({
        status: 'paused',
        paused_reason: { type: 'error', error: { type: 'organization_disabled_error' } },
      });
    },
  );
});
