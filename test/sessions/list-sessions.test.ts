import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { Session } from '../../src/sessions/session.ts';
import type { SessionQuery } from '../../src/sessions/sessions.ts';
import { createRig, newSession, ORG } from './support.ts';
import type { Rig } from './support.ts';

/** So many Sessions, every third of another Service; reads of single rows are counted. */
async function createSessions(count: number) {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  let reads = 0;
  const counted: typeof store = {
    ...store,
    get: (key) => {
      reads++;
      return store.get(key);
    },
  };
  const rig = createRig({ clock, store: counted });
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const endpointId = index % 3 === 0 ? 'ep_1' : 'ep_2';
    ids.push((await rig.sessions.create(newSession({ endpointId }))).session.id);
    clock.advance(1);
  }
  reads = 0;
  return { ...rig, ids, reads: () => reads };
}

const idsOf = (sessions: readonly Session[]) => sessions.map(({ id }) => id);

async function allBy({ sessions }: Rig, limit: number, rest: Partial<SessionQuery>) {
  const all: string[] = [];
  for (;;) {
    const after = all.at(-1);
    const page = idsOf(await sessions.list(ORG, { limit, order: 'desc', after, ...rest }));
    all.push(...page);
    if (page.length < limit) return all;
  }
}

describe('a page of Sessions', () => {
  it('follows the one before it without gap, whatever its size and filter', async () => {
    const rig = await createSessions(230);
    const newest = rig.ids.toReversed();
    const third = newest.filter((id) => rig.ids.indexOf(id) % 3 === 0);
    for (const limit of [7, 100, 101, 300]) {
      expect(await allBy(rig, limit, {})).toEqual(newest);
      expect(await allBy(rig, limit, { order: 'asc' })).toEqual(rig.ids);
      expect(await allBy(rig, limit, { endpointId: 'ep_1' })).toEqual(third);
    }
  });

  it('finds what few match behind many that do not', async () => {
    const { sessions, ids } = await createSessions(230);
    const oldest = await sessions.get(ORG, ids[0] ?? '');
    const created = (at: string) => at <= oldest.createdAt;
    const found = await sessions.list(ORG, { limit: 2, order: 'desc', created });
    expect(idsOf(found)).toEqual([oldest.id]);
    const none = await sessions.list(ORG, { limit: 2, order: 'desc', statuses: ['terminated'] });
    expect(none).toEqual([]);
  });

  it('reads no more than it needs where all match', async () => {
    const { sessions, reads } = await createSessions(120);
    expect(await sessions.list(ORG, { limit: 2, order: 'desc' })).toHaveLength(2);
    expect(reads()).toBeLessThanOrEqual(4);
  });
});
