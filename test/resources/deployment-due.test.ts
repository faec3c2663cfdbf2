import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextInstant } from '../../src/core/time/cron.ts';
import { GatewayError } from '../../src/core/errors.ts';
import { isArchived } from '../../src/resources/store/stored.ts';
import { deployment, pausedOf } from '../../src/resources/kinds/deployment.ts';
import { scheduleOf } from '../../src/resources/kinds/deployment-fields.ts';
import { DUE_PREFIX, dueOps, firstDue } from '../../src/resources/store/due-index.ts';
import { verifies } from '../requirements.ts';
import { makeResources } from './make-resources.ts';
import type { Resources } from './make-resources.ts';

const EXPRESSIONS = ['* * * * *', '*/7 * * * *', '30 2 * * *', '0 0 29 2 *', '0 7 * * 1-5'];
const ZONES = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/New_York'];

const schedule = fc.option(
  fc.record({
    type: fc.constant('cron'),
    expression: fc.constantFrom(...EXPRESSIONS),
    timezone: fc.constantFrom(...ZONES),
  }),
);

const step = fc.oneof(
  schedule.map((value) => ({ name: 'update', body: { schedule: value } }) as const),
  fc.boolean().map((paused) => ({ name: 'update', body: { paused } }) as const),
  fc.constantFrom('renamed', 'again').map((name) => ({ name: 'update', body: { name } }) as const),
  fc
    .constantFrom('pause', 'unpause', 'claim', 'archive', 'delete')
    .map((name) => ({ name }) as const),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const HOUR_MS = 3_600_000;
const round = fc.record({
  /** At the same moment, by two processes. */
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
  passes: fc.integer({ min: 0, max: 48 * HOUR_MS }),
  /** The clock is set, and stands still otherwise. */
  jumps: fc.option(fc.integer({ min: -36 * HOUR_MS, max: 36 * HOUR_MS }), { freq: 4 }),
});

/** A Schedule, and the instants that were taken of it. */
interface Seen {
  id: string;
  fired: number[];
}

/** Takes what is due, as whoever fires Schedules does. */
async function claim({ repository, clock }: Resources, { id, fired }: Seen): Promise<void> {
  const definition = repository.definitionOf(deployment.kind);
  let taken: number | undefined;
  await repository.note({ definition, idOrName: id, organization: null }, async (stored) => {
    taken = undefined;
    const { next_due_at: at } = stored.state;
    const now = clock.now();
    const rule = scheduleOf(stored.spec);
    if (typeof at !== 'number' || at > now || !rule) return undefined;
    taken = at;
    const state = {
      last_slot: at,
      next_due_at: firstDue(rule, { now, lastSlot: at, unclaimed: [] }),
    };
    const next = { ...stored, state: { ...stored.state, ...state } };
    return { state, ops: dueOps(stored, next) };
  });
  if (taken !== undefined) fired.push(taken);
}

async function take(resources: Resources, seen: Seen, step: Step): Promise<void> {
  const path = `deployments/${seen.id}`;
  if (step.name === 'claim') {
    await claim(resources, seen).catch((error: unknown) => {
      if (!(error instanceof GatewayError) || error.code !== 'not_found') throw error;
    });
  } else if (step.name === 'update') await resources.call(`PATCH ${path}`, { body: step.body });
  else if (step.name === 'delete') await resources.call(`DELETE ${path}`);
  else await resources.call(`POST ${path}/${step.name}`);
}

/** Exactly one row while it fires by itself, at an instant of its own, and none otherwise. */
async function expectIndexed({ repository, store }: Resources, id: string): Promise<void> {
  const rows = await store.list({ prefix: DUE_PREFIX });
  const definition = repository.definitionOf(deployment.kind);
  const stored = await repository.find(definition, id, { organization: null });
  const rule = stored && scheduleOf(stored.spec);
  const isFiring = stored && rule && pausedOf(stored) === null && !isArchived(stored);
  if (!isFiring) {
    expect(rows).toEqual([]);
    return;
  }
  const { next_due_at: at } = stored.state;
  expect(rows).toMatchObject([
    { key: [...DUE_PREFIX, at, id], value: { organization: stored.organization } },
  ]);
  expect(nextInstant(rule, Number(at) - 1)).toBe(at);
}

describe('the instant at which a Schedule is due', () => {
  it(
    verifies(
      'scheduler.pause-race',
      'is in the index once while it fires by itself, whoever changes it at the same time',
    ),
    async () => {
      const rounds = fc.array(round, { maxLength: 8 });
      const property = fc.asyncProperty(schedule, fc.boolean(), rounds, run);
      await fc.assert(property, { numRuns: 60 });
    },
  );

  it('is forgotten by those that never fire', async () => {
    const resources = makeResources();
    const { id } = await made(resources, { schedule: null });
    await expectIndexed(resources, id);
  });
});

async function made({ call }: Resources, more: object): Promise<{ id: string }> {
  await call('POST organizations', { body: { name: 'home' } });
  const agent = { name: 'a', organization: 'home', model: 'acme/fast' };
  const { id: agent_id } = (await call('POST agents', { body: agent })).body;
  const initial_events = [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }];
  const body = { name: 'd', organization: 'home', agent_id, initial_events, ...more };
  const { id } = (await call('POST deployments', { body })).body;
  return { id };
}

async function run(
  rule: unknown,
  paused: boolean,
  rounds: readonly { steps: Step[]; passes: number; jumps: number | null }[],
): Promise<void> {
  const resources = makeResources();
  const other = resources.other();
  const { id } = await made(resources, { schedule: rule, paused });
  await expectIndexed(resources, id);
  const seen: Seen = { id, fired: [] };
  for (const { steps, passes, jumps } of rounds) {
    resources.clock.advance(passes);
    resources.clock.step(jumps ?? 0);
    const processes = steps.map((step, index) => take(index % 2 ? other : resources, seen, step));
    await Promise.all(processes);
    await expectIndexed(resources, id);
  }
  expect(new Set(seen.fired).size).toBe(seen.fired.length);
}
