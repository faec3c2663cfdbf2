import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import {
  createConsoleSessions,
  csrfOf,
  isCsrfOf,
} from '../../../src/server/console/console-sessions.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { storePlaces } from '../../store/support/store-places.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { inTurn } from '../../runs.ts';

const HOUR = 3_600_000;
const places = storePlaces();

describe.each(inTurn('sessions of the console', places.drivers))('on %s', (driver) => {
  const stores: Store[] = [];
  afterAll(async () => void (await Promise.all(stores.map((store) => store.close()))));

  async function open() {
    const config = { options: {}, path: '', ...(await places.fresh(driver)) };
    const store = await openStore(config, { clock: systemClock });
    stores.push(store);
    const clock = createFakeClock(systemClock.now());
    return { store, clock, sessions: createConsoleSessions({ store, clock }) };
  }

  it('keeps a session without its secret', async () => {
    const { store, sessions } = await open();
    const { secret } = await sessions.open({ key: 'key_1' });
    expect(await sessions.use(secret)).toMatchObject({ key: 'key_1' });
    const rows = await store.list({ prefix: ['console'] });
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(secret);
    await sessions.close(secret);
    expect(await sessions.use(secret)).toBeUndefined();
    for (const wrong of ['', 'x', 'a'.repeat(43), '\0', `${secret}${secret}`])
      expect(await sessions.use(wrong)).toBeUndefined();
  });

  it('ends one that nobody uses, and every one after twelve hours', async () => {
    const { clock, sessions } = await open();
    const { secret, expiresAt } = await sessions.open({ key: 'key_1' });
    expect(expiresAt).toBe(clock.now() + 2 * HOUR);
    const idle = await sessions.open({ key: 'key_2' });
    for (let hour = 0; hour < 11; hour++) {
      clock.advance(HOUR);
      expect(await sessions.use(secret), `after ${hour + 1} h`).toBeDefined();
    }
    expect(await sessions.use(idle.secret)).toBeUndefined();
    clock.advance(HOUR - 1);
    expect(await sessions.use(secret)).toBeDefined();
    clock.advance(1);
    expect(await sessions.use(secret)).toBeUndefined();
  });

  it('opens a link once, within thirty seconds', async () => {
    const { clock, sessions } = await open();
    const { link, expiresAt } = await sessions.makeLink({ key: 'key_1' });
    expect(expiresAt).toBe(clock.now() + 30_000);
    const taken = await Promise.all(Array.from({ length: 8 }, () => sessions.takeLink(link)));
    expect(taken.filter((key) => key !== undefined)).toEqual([{ key: 'key_1' }]);
    expect(await sessions.takeLink(link)).toBeUndefined();
    const late = await sessions.makeLink({ key: 'key_1' });
    clock.advance(30_000);
    expect(await sessions.takeLink(late.link)).toBeUndefined();
    // A link is no session, nor the other way round.
    const { secret } = await sessions.open({ key: 'key_1' });
    expect(await sessions.takeLink(secret)).toBeUndefined();
    expect(await sessions.use((await sessions.makeLink({ key: 'key_1' })).link)).toBeUndefined();
  });
});

it('knows the token of a session from every other', () => {
  const [one, other] = ['a'.repeat(43), 'b'.repeat(43)];
  expect(isCsrfOf(one, csrfOf(one))).toBe(true);
  for (const wrong of [csrfOf(other), '', undefined, one]) expect(isCsrfOf(one, wrong)).toBe(false);
});
