import { beforeEach, describe, expect, it } from 'vitest';
import { eventsPage, sessionsPage } from '../../src/sessions/list-pages.ts';
import { createRig, newSession, ORG, pending, say } from './support.ts';
import type { Rig } from './support.ts';

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly next_page: string | null;
}

/** The cursor of another place in the same list. */
function forge(cursor: string | null, place: string): string {
  const [mark = ''] = Buffer.from(cursor ?? '', 'base64url')
    .toString()
    .split('.');
  return Buffer.from(`${mark}.${place}`).toString('base64url');
}

describe('the pages of Sessions and of their events', () => {
  let rig: Rig;
  let id: string;
  beforeEach(async () => {
    rig = createRig({ runner: pending });
    const made = await rig.sessions.create(newSession({ events: [say('a'), say('b'), say('c')] }));
    id = made.session.id;
    await rig.sessions.create(newSession());
  });

  const ask = (text: string) => ({ organization: ORG, query: new URLSearchParams(text), now: 0 });
  const events = async (text: string) => (await eventsPage(rig.sessions, id, ask(text))) as Page;
  const list = async (text: string) => (await sessionsPage(rig.sessions, ask(text))) as Page;
  const refusal = { code: 'invalid_request', param: 'page', status: 400 };

  it('go on behind the last one that was shown', async () => {
    const first = await events('limit=1');
    const second = await events(`limit=1&page=${first.next_page}`);
    expect(second.data[0]?.id).not.toBe(first.data[0]?.id);
    const newest = await list('limit=1');
    const older = await list(`limit=1&page=${newest.next_page}`);
    expect(older.data.map((one) => one.id)).toEqual([id]);
    expect(older.next_page).toBeNull();
  });

  it('hold the named Sessions alone, those of the organization, in either order', async () => {
    const all = (await list('order=asc')).data.map((one) => one.id);
    const foreign = await rig.sessions.create(newSession({ organization: 'org_2' }));
    const named = `ids=${[...all, foreign.session.id, 'sess_none'].toReversed().join(',')}`;
    const shown = async (text: string) => (await list(text)).data.map((one) => one.id);
    expect(await shown(`${named}&order=asc`)).toEqual(all);
    expect(await shown(named)).toEqual(all.toReversed());
    expect(await shown(`ids=${id}`)).toEqual([id]);
    const first = await list(`${named}&limit=1`);
    expect(await shown(`${named}&limit=1&page=${first.next_page}`)).toEqual([all[0]]);
    const many = Array.from({ length: 101 }, (_one, at) => `sess_${at}`).join(',');
    await expect(list(`ids=${many}`)).rejects.toMatchObject({ ...refusal, param: 'ids' });
  });

  it('say what became of each Session where that is asked for', async () => {
    expect((await list('')).data[0]).not.toHaveProperty('outcome');
    const { data } = await list('include=outcome&order=asc');
    expect(data).toMatchObject([
      { outcome: { type: 'running', reason: null, message: null } },
      { outcome: null },
    ]);
    const refused = { ...refusal, param: 'include' };
    await expect(list('include=agent')).rejects.toMatchObject(refused);
  });

  it.each(['abc', '1e400', '-5', '1.5', '0', '01', '9'.repeat(16), ' 1', '1\n'])(
    'of events have no place %j',
    async (place) => {
      const page = forge((await events('limit=1')).next_page, place);
      await expect(events(`limit=1&page=${page}`)).rejects.toMatchObject({
        ...refusal,
        message: 'page: not a cursor of this list',
      });
    },
  );

  it.each(['abc', 'sess_1', '>', '>abc', '>sess_', '>sess_1\n'])(
    'of Sessions have no place %j',
    async (place) => {
      const page = forge((await list('limit=1')).next_page, place);
      await expect(list(`limit=1&page=${page}`)).rejects.toMatchObject(refusal);
    },
  );

  it('of Sessions have no place longer than any id', async () => {
    const page = forge((await list('limit=1')).next_page, `>sess_${'x'.repeat(4_000)}`);
    await expect(list(`limit=1&page=${page}`)).rejects.toMatchObject(refusal);
  });

  it.each(['abc', '-1', '1.5', '0', '1e3'])('know no version %j of an Agent', async (version) => {
    await expect(list(`agent_version=${version}`)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'agent_version',
      message: 'agent_version: expected a whole number of at least 1',
    });
  });

  it('know each version of an Agent', async () => {
    expect((await list('agent_version=2')).data).toHaveLength(2);
    expect((await list('agent_version=1')).data).toEqual([]);
    expect((await list('agent_version=')).data).toHaveLength(2);
  });
});
