import { describe, expect, it } from 'vitest';
import type { MadeSession } from '../../src/sessions/sessions.ts';
import type { Op } from '../../src/store/store.ts';
import { verifies } from '../requirements.ts';
import { eventually } from '../support/gateway.ts';
import { createRig, follow, historyOf, newSession, ORG, pending, say, typesOf } from './support.ts';

const LAST = ['session.error', 'session.status_terminated'];

describe('the end of a Session', () => {
  it(
    verifies(
      'sessions.status.transitions',
      'comes at once for its turn and for those who follow, and for good',
    ),
    async () => {
      let begun = false;
      let aborted = false;
      const { sessions } = createRig({
        runner: {
          run: (log, signal) => {
            begun = true;
            signal.addEventListener('abort', () => (aborted = true));
            return pending.run(log, signal);
          },
        },
      });
      const { session } = await sessions.create(newSession({ events: [say('hello')] }));
      await eventually(() => begun);
      const { done, seen } = await follow(sessions, session.id);
      expect(await sessions.terminate(ORG, session.id, { reason: 'time is up' })).toBe(true);
      await done;
      await eventually(() => aborted);
      const history = await historyOf(sessions, session.id);
      expect(typesOf(history).slice(-2)).toEqual(LAST);
      expect(history.at(-2)?.event['error']).toMatchObject({ message: 'time is up' });
      expect(seen.at(-1)).toEqual(history.at(-1));
      expect((await sessions.get(ORG, session.id)).status).toBe('terminated');
      await expect(sessions.send(ORG, session.id, [say('more')])).rejects.toThrow('terminated');
      expect(await sessions.terminate(ORG, session.id, { reason: 'again' })).toBe(false);
      expect(await historyOf(sessions, session.id)).toEqual(history);
    },
  );

  it('does not come while what it depends on does not hold', async () => {
    const { sessions } = createRig({ runner: pending });
    const { session } = await sessions.create(newSession({ events: [say('hello')] }));
    const onlyIf = ({ status }: { status: string }) => status === 'idle';
    expect(await sessions.terminate(ORG, session.id, { reason: 'idle', onlyIf })).toBe(false);
    expect((await sessions.get(ORG, session.id)).status).toBe('running');
  });

  it('is no business of other organizations', async () => {
    const { sessions } = createRig();
    const { session } = await sessions.create(newSession());
    const ended = sessions.terminate('org_2', session.id, { reason: 'spite' });
    await expect(ended).rejects.toMatchObject({ code: 'not_found' });
    expect((await sessions.get(ORG, session.id)).status).toBe('idle');
  });
});

describe('a Session that is made for something', () => {
  const key = ['made-for'];
  const once = ({ session }: MadeSession): Op[] => [
    { type: 'put', key, value: session.id, ifAbsent: true },
  ];

  it('comes about with it in one commit, or not at all', async () => {
    const { sessions, store } = createRig();
    const { session } = await sessions.create(newSession({ also: once }));
    expect((await store.get(key))?.value).toBe(session.id);
    const second = sessions.create(newSession({ also: once }));
    await expect(second).rejects.toMatchObject({ code: 'conflict', type: 'session_not_wanted' });
    expect(await sessions.list(ORG, { limit: 10, order: 'asc' })).toHaveLength(1);
  });
});
