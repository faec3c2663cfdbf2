import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/server/process/gateway-version.ts';
import { healthRoutes } from '../../../src/server/routes/health-routes.ts';
import type { Condition } from '../../../src/server/routes/health-routes.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { turns } from '../../usage/usage-fixtures.ts';
import { answerOf } from './handler-calls.ts';

const CONDITION: Condition = { draining: false, configuration: 'c1', reloadError: null };

/** A gateway whose store answers each question when the test says so. */
function setUp(condition: Partial<Condition> = {}) {
  const clock = createFakeClock();
  const asked: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  const ping = () =>
    new Promise<void>((resolve, reject) => {
      asked.push({ resolve, reject });
    });
  const routes = healthRoutes({
    store: { ping },
    clock,
    condition: () => ({ ...CONDITION, ...condition }),
  });
  const get = (path: string) => answerOf(routes.find((route) => route.path === path)?.methods.GET);
  return { clock, asked, routes, get };
}

describe('the liveness of a process', () => {
  it('asks nobody', async () => {
    const { get, asked } = setUp({ draining: true });
    expect(await get('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
    expect(asked).toHaveLength(0);
  });
});

describe('the readiness of a process', () => {
  const READY = {
    status: 'ready',
    store: 'ok',
    draining: false,
    configuration: 'c1',
    reload_error: null,
    version: VERSION,
  };

  it('is there while the store takes writes', async () => {
    const { get, asked, clock } = setUp();
    const answer = get('/readyz');
    await turns();
    asked[0]?.resolve();
    expect(await answer).toEqual({ status: 200, body: READY });
    expect(clock.pending).toBe(0);
  });

  it('is there after a reload that was refused, and says why', async () => {
    const { get, asked } = setUp({ reloadError: 'line 3' });
    const answer = get('/readyz');
    await turns();
    asked[0]?.resolve();
    expect(await answer).toEqual({ status: 200, body: { ...READY, reload_error: 'line 3' } });
  });

  it('ends with a store that fails', async () => {
    const { get, asked, clock } = setUp();
    const answer = get('/readyz');
    await turns();
    asked[0]?.reject(new Error('no space left'));
    const body = { ...READY, status: 'unavailable', store: 'failing' };
    expect(await answer).toEqual({ status: 503, body });
    expect(clock.pending).toBe(0);
  });

  it('ends with a drain although the store is well', async () => {
    const { get, asked } = setUp({ draining: true });
    const answer = get('/readyz');
    await turns();
    asked[0]?.resolve();
    const body = { ...READY, status: 'unavailable', draining: true };
    expect(await answer).toEqual({ status: 503, body });
  });

  it('waits a second for the store, and no longer', async () => {
    const { get, asked, clock } = setUp();
    const slow = get('/readyz');
    clock.advance(999);
    await turns();
    asked[0]?.resolve();
    expect(await slow).toMatchObject({ status: 200 });
    const late = get('/readyz');
    clock.advance(1_000);
    expect(await late).toMatchObject({ status: 503, body: { store: 'failing' } });
  });

  it('is asked of the store once for all who ask meanwhile, and anew behind the answer', async () => {
    const { get, asked } = setUp();
    const both = Promise.all([get('/readyz'), get('/readyz')]);
    await turns();
    expect(asked).toHaveLength(1);
    asked[0]?.resolve();
    expect((await both).map(({ status }) => status)).toEqual([200, 200]);
    const next = get('/readyz');
    await turns();
    expect(asked).toHaveLength(2);
    asked[1]?.reject(new Error('gone'));
    expect(await next).toMatchObject({ status: 503 });
  });
});
