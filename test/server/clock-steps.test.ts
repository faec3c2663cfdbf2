import { describe, expect, it, onTestFinished } from 'vitest';
import { toDeadline } from '../../src/core/time/deadline.ts';
import { createSealer, createSigner } from '../../src/core/seal.ts';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import type { JobHandler } from '../../src/jobs/jobs.ts';
import { reportCredential, selectCredential } from '../../src/resources/kinds/select-credential.ts';
import { createHealth } from '../../src/routing/health.ts';
import type { Cooldown } from '../../src/routing/health.ts';
import { createSharedCooldowns } from '../../src/routing/shared-cooldowns.ts';
import { acquireLease } from '../../src/store/backends/journal/lease.ts';
import { createBlobs } from '../../src/store/backends/journal/blobs.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createMediaLinks } from '../../src/assets/media-links.ts';
import { createConcurrencyLimiter } from '../../src/usage/rates/concurrency-limiter.ts';
import { recoverOpen } from '../../src/usage/recovery/recover-open.ts';
import { createWorkerLease } from '../../src/usage/ledger/worker-lease.ts';
import { createSigningSecrets } from '../../src/webhooks/signing-secrets.ts';
import { makeResources } from '../resources/make-resources.ts';
import { createRig } from '../scheduler/support.ts';
import { createBlobMap } from '../store/support/blob-map.ts';
import { fakeRoute } from '../support/catalog.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { principal, turns } from '../usage/usage-fixtures.ts';
import { verifies } from '../requirements.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KEY = new Uint8Array(32).fill(7);

const KEY_OF_ROUTE = `${fakeRoute('a').provider.id}\n${fakeRoute('a').upstreamModel}`;

const STEPS = [
  { name: '2 h ahead', ms: 2 * HOUR },
  { name: '2 h behind', ms: -2 * HOUR },
  { name: '400 d ahead', ms: 400 * DAY },
  { name: '400 d behind', ms: -400 * DAY },
];

/** Time passes in steps of a second, with turns of the event loop in between. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= SECOND) {
    clock.advance(Math.min(SECOND, left));
    await turns();
  }
}

const endless: JobHandler = ({ signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('called off')));
  });

describe.each(STEPS)('a clock that steps $name and back', ({ ms }) => {
  it(
    verifies('clock.jump.leases-and-ttls', 'takes no job from the process that does it'),
    async () => {
      const clock = createFakeClock();
      const store = openMemoryStore(clock);
      const begun: string[] = [];
      const work: JobHandler = (run) => (begun.push(run.job.id), endless(run));
      const workers = ['a', 'b'].map((worker) => createJobs({ store, clock, worker }));
      for (const jobs of workers) {
        jobs.start(new Map([['work', work]]));
        onTestFinished(() => jobs.close());
      }
      const add = (id: string) => workers[0]!.add({ kind: 'work', id, payload: null });
      await add('first');
      await pass(clock, 5 * SECOND);
      expect(begun).toEqual(['first']);
      for (const [id, step] of [
        ['second', ms],
        ['third', -ms],
      ] as const) {
        clock.step(step);
        // Both look at once, before anything is renewed.
        await add(id);
        await pass(clock, 3 * MINUTE);
      }
      expect(begun).toEqual(['first', 'second', 'third']);
    },
  );

  it(
    verifies('clock.jump.leases-and-ttls', 'puts no job off longer than it was to wait'),
    async () => {
      const clock = createFakeClock();
      const store = openMemoryStore(clock);
      const done: string[] = [];
      clock.step(ms);
      const first = createJobs({ store, clock, worker: 'a' });
      for (const [id, inMs] of [
        ['soon', 2 * MINUTE],
        ['later', 10 * MINUTE],
      ] as const)
        await first.add({ kind: 'work', id, payload: null }, { inMs });
      // A process that dies holds a third.
      await first.add({ kind: 'work', id: 'held', payload: null });
      const dead = createJobs({ store: { ...store }, clock, worker: 'dead' });
      dead.start(new Map([['work', () => new Promise<never>(() => undefined)]]));
      await turns();
      const held = await store.get<{ owner: string }>(['job', 'work', 'held']);
      expect(held?.value.owner).toMatch(/^dead/);
      const row = held!.value;
      await pass(clock, 2 * SECOND);
      clock.step(-ms);
      // Its timers are gone with it.
      void dead.close();
      await turns();
      await store.commit([{ type: 'put', key: ['job', 'work', 'held'], value: row }]);
      const next = createJobs({ store, clock, worker: 'b' });
      onTestFinished(() => next.close());
      next.start(
        new Map([['work', async ({ job }) => (done.push(job.id), 'done' as const)]] as [
          string,
          JobHandler,
        ][]),
      );
      await pass(clock, 2 * MINUTE + 3 * SECOND);
      if (ms > 0) expect(done).toContain('soon');
      await pass(clock, 8 * MINUTE + 3 * SECOND);
      expect(done).toContain('later');
    },
  );

  it(
    verifies(
      'clock.jump.leases-and-ttls',
      'leaves workers that live what they hold, and frees the dead',
    ),
    async () => {
      const clock = createFakeClock();
      const store = openMemoryStore(clock);
      const living = createWorkerLease({ store, clock, worker: 'living' });
      const dying = createWorkerLease({ store, clock, worker: 'dying' });
      await living.start();
      await dying.start();
      const alive = () => living.alive();
      const limiter = createConcurrencyLimiter({ store, clock, worker: 'living', alive });
      const other = createConcurrencyLimiter({ store, clock, worker: 'other', alive });
      const key = principal({ concurrencyCap: 1, keyId: 'key_1' });
      expect(await limiter.enter(key)).toBeTypeOf('function');
      for (const step of [ms, -ms]) {
        clock.step(step);
        for (let i = 0; i < 60; i++) {
          expect(await other.enter(key)).toBeUndefined();
          await recoverOpen({ store });
          expect([...(await alive())]).toContain('living');
          await pass(clock, 3 * SECOND);
        }
      }
      clock.step(ms);
      await dying.release();
      await store.commit([
        { type: 'put', key: ['worker', 'dying'], value: { since: 0 }, ttlMs: 15 * SECOND },
      ]);
      await pass(clock, 2 * SECOND);
      clock.step(-ms);
      await pass(clock, 20 * SECOND + (ms < 0 ? 2 * MINUTE : 0));
      expect([...(await alive())]).toEqual(['living']);
      await living.release();
    },
  );

  it(
    verifies('clock.jump.leases-and-ttls', 'ends cooldowns of routes when they have lasted'),
    async () => {
      const clock = createFakeClock();
      const store = openMemoryStore(clock);
      const route = fakeRoute('a');
      const told: Cooldown[] = [];
      const shared = [0, 1].map(() => createSharedCooldowns({ store, clock }));
      const healths = shared.map((one) => {
        const onCooldown = (name: string, cooldown: Cooldown): void => {
          told.push(cooldown);
          one.onCooldown(name, cooldown);
        };
        const health = createHealth({ clock, onCooldown, onRecovery: one.onRecovery });
        one.join(health);
        onTestFinished(() => one.close());
        return health;
      });
      const states = () => healths.map((health) => health.look(route).state);
      clock.step(ms);
      healths[0]!.begin(route).fault('rate', 30_000);
      await turns();
      clock.advance(SECOND);
      clock.step(-ms);
      await turns();
      expect(states()).toEqual(['cooled', 'cooled']);
      // One that hears of it late leaves it alone for its length at most.
      const late = createHealth({ clock });
      for (const cooldown of told) late.learn(KEY_OF_ROUTE, cooldown);
      await pass(clock, 28 * SECOND);
      expect(states()).toEqual(['cooled', 'cooled']);
      await pass(clock, 2 * SECOND);
      expect(states()).toEqual(['available', 'available']);
      expect(late.look(route).state).toBe('available');
      // What begins after the step is shared as ever, and so is its end.
      healths[1]!.begin(route).fault('rate', 5_000);
      await turns();
      expect(states()).toEqual(['cooled', 'cooled']);
      healths[0]!.begin(route).success(10);
      await turns();
      expect(states()).toEqual(['available', 'available']);
    },
  );

  it(
    verifies('clock.jump.leases-and-ttls', 'ends no cooldown by the recovery of an earlier one'),
    async () => {
      const clock = createFakeClock();
      const route = fakeRoute('a');
      const health = createHealth({ clock });
      clock.step(ms);
      const earlier = { until: toDeadline(clock.now(), 30_000), openings: 0 };
      health.learn(KEY_OF_ROUTE, earlier);
      clock.step(-ms);
      health.begin(route).fault('rate', 60_000);
      health.forgive(KEY_OF_ROUTE, earlier.until);
      expect(health.look(route).state).toBe('cooled');
      clock.advance(60_000);
      expect(health.look(route).state).toBe('available');
    },
  );

  it(verifies('clock.jump.leases-and-ttls', 'keeps results for their own time'), async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    clock.step(ms);
    await store.commit([{ type: 'put', key: ['kept'], value: 1, ttlMs: 10 * MINUTE }]);
    clock.step(-ms);
    await pass(clock, 9 * MINUTE);
    if (ms > 0) expect(await store.get(['kept'])).toBeDefined();
    await pass(clock, MINUTE + 3 * SECOND);
    expect(await store.get(['kept'])).toBeUndefined();
  });

  it(
    verifies('clock.jump.leases-and-ttls', 'ends cooldowns of credentials when they have lasted'),
    async () => {
      const clock = createFakeClock();
      const resources = makeResources({ clock });
      const { body } = await resources.call('POST organizations', { body: { name: 'home' } });
      const organization = String(body['id']);
      const call = async (request: string, sent: object) =>
        (await resources.call(request, { body: sent, organization, platform: false })).body;
      const agent = String((await call('POST agents', { name: 'A', model: 'm/m' }))['id']);
      const made = { agent_id: agent, scope: 'mcp', scope_name: 'd', secret_key: 'T', value: 'v' };
      const { id } = (await call('POST credentials', made))['data'] as { id: string };
      const deps = { repository: resources.repository, clock };
      const query = { organization, agentId: agent, groupKey: 'd:T' };
      clock.step(ms);
      await reportCredential({ organization, id, refused: true }, deps);
      expect(await selectCredential(query, deps)).toBeUndefined();
      clock.step(-ms);
      clock.advance(30 * SECOND);
      expect(await selectCredential(query, deps)).toBeDefined();
    },
  );

  it(
    verifies('clock.jump.leases-and-ttls', 'lets no link and no former secret hold longer'),
    async () => {
      const clock = createFakeClock();
      const store = openMemoryStore(clock);
      const signer = createSigner([KEY], 'media');
      const links = createMediaLinks({ signer, clock, lifetimeMs: HOUR });
      const sealer = createSealer([KEY]);
      const secrets = createSigningSecrets({ store, sealer, clock });
      clock.step(ms);
      const link = new URL(links.create('asset_1', 'http://gateway.test'));
      await secrets.current('org_1');
      await secrets.rotate('org_1');
      clock.step(-ms);
      const left = links.secondsLeft('asset_1', link.searchParams) ?? 0;
      expect(left).toBeLessThanOrEqual(HOUR / SECOND);
      expect((await secrets.current('org_1')).length).toBe(ms > 0 ? 2 : ms > -DAY ? 2 : 1);
      clock.advance(DAY);
      expect(await secrets.current('org_1')).toHaveLength(1);
      expect(links.secondsLeft('asset_1', link.searchParams)).toBeUndefined();
    },
  );

  it(
    verifies('clock.jump.leases-and-ttls', 'ends a Session of a Schedule in its time'),
    async () => {
      const rig = await createRig();
      rig.start();
      await rig.step(ms);
      const timeout_policy = { session_timeout_seconds: 600 };
      const id = await rig.make(undefined, { timeout_policy });
      const session = String((await rig.trigger(id)).sessionId);
      await rig.step(-ms);
      await rig.pass(11 * MINUTE);
      expect((await rig.sessions.get(rig.organization, session)).status).toBe('terminated');
    },
  );

  it(
    verifies(
      'clock.jump.leases-and-ttls',
      'gives the lock of a journal to nobody while its holder lives',
    ),
    async () => {
      const clock = createFakeClock();
      const driver = createBlobMap();
      const lease = await acquireLease(createBlobs(driver), clock, 'aaaaaaaa');
      onTestFinished(() => lease.release());
      clock.step(ms);
      clock.advance(6 * SECOND);
      await turns();
      await expect(acquireLease(createBlobs(driver), clock, 'bbbbbbbb')).rejects.toMatchObject({
        code: 'locked',
      });
      clock.step(-ms);
      clock.advance(6 * SECOND);
      await turns();
      await expect(acquireLease(createBlobs(driver), clock, 'cccccccc')).rejects.toMatchObject({
        code: 'locked',
      });
    },
  );
});
