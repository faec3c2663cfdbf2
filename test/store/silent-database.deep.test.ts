import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { openPostgresStore } from '../../src/store/backends/postgres/open-postgres-store.ts';
import { openRedisStore } from '../../src/store/backends/redis/open-redis-store.ts';
import { openCutProxy } from '../chaos/cut-proxy.ts';
import { inTurn } from '../runs.ts';
import { eventually } from '../support/gateway.ts';
import { hurryTimers } from '../support/time/hurry-timers.ts';
import { shareDatabase } from '../support/servers/share-database.ts';
import { findProgram } from './support/database-server.ts';

const BACKENDS = [
  { driver: 'redis', program: 'redis-server', open: openRedisStore },
  { driver: 'postgres', program: 'postgres', open: openPostgresStore },
].map((backend) => ({ ...backend, path: findProgram(backend.program) }));

/** Everything waits at most a quarter of a minute, and no machine is ten times as slow. */
const SLOW = 150_000;
/** Times as fast as waits run out here. */
const HURRY = 4;

describe.each(inTurn('silent databases', BACKENDS))('a $driver store', ({ driver, open, path }) => {
  it.skipIf(path === undefined)(
    'goes on over new connections when the other side of the old ones is gone without a word',
    async () => {
      const server = await shareDatabase(driver);
      hurryTimers(HURRY);
      const url = new URL(server.url);
      const line = await openCutProxy(Number(url.port));
      onTestFinished(() => line.close());
      url.port = String(line.port);
      const [store, other] = await Promise.all([
        open({ ...server.options, url: url.toString() }, systemClock),
        open(server.options, systemClock),
      ]);
      onTestFinished(async () => void (await Promise.all([store.close(), other.close()])));
      const put = (value: number) => store.commit([{ type: 'put', key: ['k'], value }]);
      expect(await put(1)).toMatchObject({ ok: true });

      line.cut('half-open');
      const lost = put(2);
      line.mend();
      await expect(lost).rejects.toMatchObject({ name: 'StoreError', code: 'unavailable' });
      await eventually(
        () =>
          store.ping().then(
            () => true,
            () => false,
          ),
        SLOW,
      );
      expect(await put(3)).toMatchObject({ ok: true });

      // What only listens hears again, too.
      let rings = 0;
      store.watch(['bell'], () => rings++);
      await eventually(async () => {
        await other.commit([{ type: 'put', key: ['bell', 'x'], value: rings }]);
        return rings > 0;
      }, SLOW);
    },
    SLOW,
  );
});
