import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createKeyDirectory } from '../../src/resources/kinds/key-directory.ts';
import type { KeyDirectory } from '../../src/resources/kinds/key-directory.ts';
import { createChangeFeed } from '../../src/resources/changes/change-feed.ts';
import type { CommitResult, Store } from '../../src/store/store.ts';
import { verifies } from '../requirements.ts';
import { dump, makeResources, MASTER_KEY } from './make-resources.ts';
import type { Resources } from './make-resources.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('the rotation of an API key', () => {
  let resources: Resources;
  let directory: KeyDirectory;
  let id: string;
  let first: string;

  beforeEach(async () => {
    resources = makeResources();
    directory = createKeyDirectory(resources);
    const { body } = await resources.call('POST organizations', { body: { name: 'home' } });
    const options = {
      organization: body['id'],
      body: { name: 'ci', rpm_cap: 5, spending_limit: { day: '5' }, labels: { team: 'a' } },
    };
    const made = (await resources.call('POST keys', options)).body;
    id = made['id'];
    first = made['value'];
    await directory.update('everything');
  });

  const rotate = (body: object = {}) => resources.call(`POST keys/${id}/rotate`, { body });
  const rotated = async (body: object = {}): Promise<string> => {
    const { status, body: view } = await rotate(body);
    expect(status).toBe(200);
    await directory.update([{ kind: 'api_key', id }]);
    return view['value'];
  };
  const works = { keyId: expect.stringMatching(/^key_/), keyName: 'ci', rpmCap: 5 };

  it(
    verifies(
      'cli.keys.rotate.one-object',
      'gives one object a second value: id, limits and labels stay, who pays is the same',
    ),
    async () => {
      const before = (await resources.call(`GET keys/${id}`)).body;
      const answer = await rotate();
      expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
      const { value: second, ...view } = answer.body;
      expect(second).toMatch(/^sk-[0-9a-f]{64}$/);
      const { hint, former_hint, former_until, rotated_at, version, updated_at, ...rest } = view;
      expect({ former_hint, former_until, rotated_at }).toEqual({
        former_hint: before['hint'],
        former_until: '2026-11-22T00:00:00.000Z',
        rotated_at: '2026-11-21T00:00:00.000Z',
      });
      expect([version, hint === before['hint'], updated_at]).toEqual([2, false, rotated_at]);
      expect(before).toMatchObject(rest);
      await directory.update([{ kind: 'api_key', id }]);
      expect(directory.lookup(first)).toMatchObject({ ...works, keyId: id });
      expect(directory.lookup(second)).toEqual(directory.lookup(first));
      const seen = (await resources.call(`GET keys/${id}`)).body;
      expect(JSON.stringify([seen, await dump(resources.store)])).not.toContain(
        second.slice(3, 20),
      );
      expect(seen).not.toHaveProperty('value');
    },
  );

  it('ends the old value with its overlap, from that instant on, also for a new process', async () => {
    const second = await rotated({ overlap: '2h' });
    resources.clock.advance(2 * HOUR - 1);
    expect(directory.lookup(first)).toMatchObject(works);
    resources.clock.advance(1);
    expect(directory.lookup(first)).toBe('revoked');
    expect(directory.lookup(second)).toMatchObject(works);
    const started = createKeyDirectory(resources.other());
    await started.update('everything');
    expect([started.lookup(first), started.lookup(second)]).toEqual([
      'revoked',
      directory.lookup(second),
    ]);
    expect(started.lookup(`${first}0`)).toBe('unknown');
  });

  it('ends the old value at once without an overlap', async () => {
    const second = await rotated({ overlap: 0 });
    expect(directory.lookup(first)).toBe('revoked');
    expect(directory.lookup(second)).toMatchObject(works);
    expect((await resources.call(`GET keys/${id}`)).body).toMatchObject({
      former_hint: null,
      former_until: null,
    });
  });

  it('never leaves more than two values, and none is cut off unsaid', async () => {
    const second = await rotated();
    const refused = await rotate();
    expect(refused).toMatchObject({
      status: 409,
      body: { type: 'rotation_under_way', retry: false },
    });
    expect(refused.body['message']).toContain('2026-11-22T00:00:00.000Z');
    expect(refused.body['message']).not.toContain(first);
    // The answer of the second got lost: the first is still the one in use.
    const third = await rotated({ end: 'current', overlap: '1h' });
    expect(directory.lookup(second)).toBe('revoked');
    expect([directory.lookup(first), directory.lookup(third)]).toMatchObject([works, works]);
    const fourth = await rotated({ end: 'former', overlap: '1h' });
    expect(directory.lookup(first)).toBe('revoked');
    expect([directory.lookup(third), directory.lookup(fourth)]).toMatchObject([works, works]);
    resources.clock.advance(HOUR);
    const fifth = await rotated();
    expect([first, second, third].map((value) => directory.lookup(value))).toEqual([
      'revoked',
      'revoked',
      'revoked',
    ]);
    expect([directory.lookup(fourth), directory.lookup(fifth)]).toMatchObject([works, works]);
    const last = await rotated({ overlap: 0 });
    expect([fourth, fifth].map((value) => directory.lookup(value))).toEqual(['revoked', 'revoked']);
    expect(directory.lookup(last)).toMatchObject(works);
  });

  it('ends both values when the key is revoked, and no key that is over is rotated', async () => {
    const second = await rotated();
    await resources.call(`POST keys/${id}/revoke`);
    await directory.update([{ kind: 'api_key', id }]);
    expect([directory.lookup(first), directory.lookup(second)]).toEqual(['revoked', 'revoked']);
    expect(await rotate({ overlap: 0 })).toMatchObject({
      status: 409,
      body: { type: 'key_revoked' },
    });
  });

  it('is refused for an expired key and for an overlap without meaning', async () => {
    for (const overlap of ['soon', '91d', -1])
      expect(await rotate({ overlap })).toMatchObject({ status: 422, body: { param: 'overlap' } });
    expect((await rotate({ overlap: true })).status).toBe(400);
    expect(await rotate({ end: 'both' })).toMatchObject({ status: 400, body: { param: 'end' } });
    await resources.call(`PATCH keys/${id}`, { body: { expires_at: '2026-11-21T00:00:01Z' } });
    resources.clock.advance(1000);
    expect(await rotate()).toMatchObject({ status: 409, body: { type: 'key_expired' } });
    await directory.update('everything');
    expect(directory.lookup(first)).toBe('expired');
  });

  it('makes no value that another key has or had, and keeps those that ended', async () => {
    await rotated({ overlap: 0 });
    const taken = await resources.call('POST keys', {
      organization: await homeOf(),
      body: { name: 'thief', value: first },
    });
    expect(taken).toMatchObject({ status: 409, body: { param: 'value' } });
  });
  const homeOf = async (): Promise<string> =>
    (await resources.call(`GET keys/${id}`)).body['organization'];

  it('works for a value that was hashed under a previous master key', async () => {
    const newer = resources.other([Buffer.from('a newer master key of 32 letters'), MASTER_KEY]);
    const second = (await newer.call(`POST keys/${id}/rotate`)).body['value'];
    const started = createKeyDirectory(newer);
    await started.update('everything');
    expect([started.lookup(first), started.lookup(second)]).toMatchObject([works, works]);
    resources.clock.advance(DAY);
    expect(started.lookup(first)).toBe('revoked');
  });

  it('reaches another process within half a second without a bell', async () => {
    const store = { ...resources.store, watch: () => () => undefined };
    const feed = createChangeFeed({ store, clock: resources.clock, onError: () => undefined });
    feed.subscribe((changes) => directory.update(changes));
    const { value } = (
      await resources.other().call(`POST keys/${id}/rotate`, { body: { overlap: 0 } })
    ).body;
    expect(directory.lookup(first)).toMatchObject(works);
    resources.clock.advance(500);
    await vi.waitFor(() => expect(directory.lookup(first)).toBe('revoked'));
    expect(directory.lookup(value)).toMatchObject(works);
    feed.close();
  });

  it('lasts its own length when the clock was ahead as it began', async () => {
    resources.clock.step(365 * DAY);
    await rotated({ overlap: '1h' });
    resources.clock.step(-365 * DAY);
    expect(directory.lookup(first)).toMatchObject(works);
    const until = async () => (await resources.call(`GET keys/${id}`)).body['former_until'];
    await vi.waitFor(async () => expect(await until()).toBe('2026-11-21T01:00:00.000Z'));
    resources.clock.advance(HOUR - 1);
    expect(directory.lookup(first)).toMatchObject(works);
    resources.clock.advance(1);
    expect(directory.lookup(first)).toBe('revoked');
  });

  it(
    verifies(
      'cli.keys.rotate.killed',
      'is one commit: killed before it nothing has changed, killed after it the old value works',
    ),
    async () => {
      const commits: string[] = [];
      const dying: Store = {
        ...resources.store,
        commit: async (...args: Parameters<Store['commit']>): Promise<CommitResult> => {
          commits.push(JSON.stringify(args[0]));
          if (commits.length === 1) throw new Error('killed before the commit');
          await resources.store.commit(...args);
          throw new Error('killed after the commit');
        },
      };
      const killed = makeResources({ store: dying, clock: resources.clock });
      for (const moment of ['before', 'after']) {
        await expect(killed.call(`POST keys/${id}/rotate`)).rejects.toThrow(`killed ${moment}`);
        const started = createKeyDirectory(resources.other());
        await started.update('everything');
        expect(started.lookup(first), moment).toMatchObject(works);
      }
      expect(commits).toHaveLength(2);
    },
  );
});
