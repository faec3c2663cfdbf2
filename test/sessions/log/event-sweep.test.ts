import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createEventSweep } from '../../../src/sessions/log/event-sweep.ts';
import { OVER, OVER_COMPLETE } from '../../../src/sessions/over-index.ts';
import { eventsPage } from '../../../src/sessions/list-pages.ts';
import { toSessionView } from '../../../src/sessions/session-view.ts';
import { TURN_JOB } from '../../../src/sessions/log/job-kinds.ts';
import { sweepRound } from '../../support/sweep-round.ts';
import { eventually } from '../../support/gateway.ts';
import {
  createRig,
  follow,
  historyOf,
  newSession,
  ORG,
  pending,
  say,
  typesOf,
} from '../support.ts';
import type { RigOptions } from '../support.ts';

const HOUR = 3_600_000;

/** A rig whose clock is ahead by as much as it is told. */
function setUp(options: RigOptions = {}) {
  let ahead = 0;
  const clock = { ...systemClock, now: () => Date.now() + ahead };
  const rig = createRig({ ...options, clock });
  const { sessions, store } = rig;
  const note = { type: 'system.message', content: [{ type: 'text', text: 'note' }] };
  return {
    ...rig,
    pass: (ms: number) => void (ahead += ms),
    sweep: createEventSweep({ store, clock }),
    /** Idle, with so many events. */
    async make(events: number): Promise<string> {
      const { session } = await sessions.create(newSession());
      for (let left = events; left > 0; left -= 100)
        await sessions.send(
          ORG,
          session.id,
          Array.from({ length: Math.min(left, 100) }, () => note),
        );
      return session.id;
    },
    places: async () => (await store.list({ prefix: OVER })).map(({ key }) => String(key[2])),
    rowsOf: async (id: string) => {
      const prefixes = [
        ['session-event', id],
        ['session-event-id', id],
      ];
      const rows = await Promise.all(
        prefixes.map((prefix) => store.list({ prefix, limit: 10_000 })),
      );
      return rows.map(({ length }) => length);
    },
  };
}

type Rig = ReturnType<typeof setUp>;

async function pageOf({ sessions, clock }: Rig, id: string, query = '') {
  const asked = { organization: ORG, query: new URLSearchParams(query), now: clock.now() };
  return (await eventsPage(sessions, id, asked)) as { data: object[]; next_page: string | null };
}

describe('the sweep of events', () => {
  it('leaves a Session that is over since the very instant before which events go', async () => {
    const rig = setUp();
    const id = await rig.make(2);
    await rig.sessions.archive(ORG, id);
    const [place] = await rig.store.list({ prefix: OVER });
    const at = Number(place?.key[1]);
    expect((await sweepRound(rig.sweep, at)).removed).toBe(0);
    expect(await rig.rowsOf(id)).toEqual([2, 2]);
    expect((await sweepRound(rig.sweep, at + 1)).removed).toBeGreaterThan(0);
    expect(await rig.rowsOf(id)).toEqual([0, 0]);
  });

  it('removes those of Sessions that have been over for long enough, in bounded commits', async () => {
    const rig = setUp();
    const { sessions, sweep, clock } = rig;
    const [open, archived, terminated, young] = [
      await rig.make(3),
      await rig.make(250),
      await rig.make(2),
      await rig.make(4),
    ];
    await sessions.archive(ORG, archived);
    await sessions.terminate(ORG, terminated, { reason: 'enough' });
    rig.pass(2 * HOUR);
    await sessions.archive(ORG, young);
    const before = await sessions.get(ORG, archived);
    expect((await sweepRound(sweep, clock.now() - HOUR)).removed).toBe(250 + 4);
    expect(await Promise.all([open, archived, terminated, young].map(rig.rowsOf))).toEqual([
      [3, 3],
      [0, 0],
      [0, 0],
      [4, 4],
    ]);
    expect(await rig.places()).toEqual([young]);
    const after = await sessions.get(ORG, archived);
    expect(after).toEqual({ ...before, removed: { upTo: 250, at: expect.any(String) } });
    expect((await sweepRound(sweep, clock.now() - HOUR)).removed).toBe(0);
  });

  it('leaves a Session that can be read, listed and followed, and says that its events are gone', async () => {
    const rig = setUp();
    const { sessions, sweep, clock } = rig;
    const id = await rig.make(3);
    const [first] = await historyOf(sessions, id);
    expect(await pageOf(rig, id)).not.toHaveProperty('events_removed_at');
    expect(toSessionView(await sessions.get(ORG, id), 0)).not.toHaveProperty('events_removed_at');
    const cursor = (await pageOf(rig, id, 'limit=1')).next_page ?? '';
    await sessions.terminate(ORG, id, { reason: 'enough' });
    await sweepRound(sweep, clock.now() + HOUR);
    const gone = { data: [], next_page: null, events_removed_at: expect.any(String) };
    expect(await pageOf(rig, id)).toEqual(gone);
    expect(await pageOf(rig, id, 'order=desc&limit=1')).toEqual(gone);
    expect(await pageOf(rig, id, `limit=1&page=${cursor}`)).toEqual(gone);
    expect(toSessionView(await sessions.get(ORG, id), 0)).toMatchObject({
      status: 'terminated',
      events_removed_at: expect.any(String),
    });
    const listed = await sessions.list(ORG, { limit: 9, order: 'asc', includeArchived: true });
    expect(listed.map((session) => session.id)).toEqual([id]);
    // A client that comes back with an event it saw learns that nothing more comes.
    const follower = await follow(sessions, id, { after: first?.event.id });
    await follower.done;
    expect(follower.seen).toEqual([]);
    await sessions.remove(ORG, id);
    await expect(sessions.get(ORG, id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('keeps what comes later, and counts its age anew', async () => {
    const rig = setUp();
    const { sessions, sweep, clock } = rig;
    const id = await rig.make(3);
    await sessions.archive(ORG, id);
    rig.pass(2 * HOUR);
    await sweepRound(sweep, clock.now() - HOUR);
    await sessions.update(ORG, id, { title: 'seen' });
    expect(typesOf(await historyOf(sessions, id))).toEqual(['session.updated']);
    const follower = await follow(sessions, id, { after: 'sevt_gone' });
    await eventually(() => follower.seen.length === 1);
    expect((await sweepRound(sweep, clock.now() - HOUR)).removed).toBe(0);
    rig.pass(2 * HOUR);
    expect((await sweepRound(sweep, clock.now() - HOUR)).removed).toBe(1);
    expect(await historyOf(sessions, id)).toEqual([]);
    expect(await rig.places()).toEqual([]);
  });

  it('never touches a Session that may go on, nor one whose turn is not over', async () => {
    const rig = setUp({ runner: pending });
    const { sessions, sweep, clock, jobs } = rig;
    const { session: running } = await sessions.create(newSession({ events: [say('go')] }));
    const { session: cut } = await sessions.create(newSession({ events: [say('go')] }));
    await sessions.archive(ORG, running.id);
    // Whoever runs the turn has not noticed yet; then it is like this for a moment.
    await jobs.close();
    await sessions.terminate(ORG, cut.id, { reason: 'enough' });
    expect(await rig.places()).toEqual([cut.id]);
    expect((await sweepRound(sweep, clock.now() + HOUR)).removed).toBe(0);
    expect(await rig.places()).toEqual([cut.id]);
    await jobs.remove(TURN_JOB, cut.id);
    const { head } = await sessions.get(ORG, cut.id);
    expect((await sweepRound(sweep, clock.now() + HOUR)).removed).toBe(head);
    expect(await rig.rowsOf(running.id)).toEqual([2, 2]);
  });

  it('shows all of the events or none while it removes them', async () => {
    const rig = setUp();
    const { sessions, store, clock } = rig;
    const id = await rig.make(450);
    await sessions.archive(ORG, id);
    const seen = new Set<number>();
    const commit: typeof store.commit = async (ops) => {
      const result = await store.commit(ops);
      seen.add((await historyOf(sessions, id)).length);
      return result;
    };
    await store.commit([{ type: 'put', key: OVER_COMPLETE, value: true }]);
    seen.add((await historyOf(sessions, id)).length);
    const sweep = createEventSweep({ store: { ...store, commit }, clock });
    const round = await sweepRound(sweep, clock.now() + HOUR);
    expect([...seen]).toEqual([450, 0]);
    expect(round).toMatchObject({ removed: 450, steps: 5 });
  });

  it('finds Sessions that were over before it was there, once, and forgets deleted ones', async () => {
    const rig = setUp();
    const { sessions, store, sweep, clock } = rig;
    const old = [await rig.make(1), await rig.make(2), await rig.make(3)];
    for (const id of old) await sessions.archive(ORG, id);
    const rows = await store.list({ prefix: OVER });
    await store.commit(rows.map(({ key }) => ({ type: 'delete', key })));
    await sweepRound(sweep, 0, 2);
    expect(await rig.places()).toEqual(old);
    await sessions.remove(ORG, old[1] ?? '');
    expect(await rig.places()).toEqual([old[0], old[2]]);
    // As if it had been deleted by one that knows no such places.
    await store.commit([{ type: 'put', key: rows[1]?.key ?? [], value: null }]);
    expect((await sweepRound(sweep, clock.now() + HOUR)).removed).toBe(4);
    expect(await rig.places()).toEqual([]);
  });
});
