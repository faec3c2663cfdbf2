import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { expectWhole, temporaryDirectory } from '../conformance/store-kill.ts';
import { until } from '../conformance/store.ts';
import { verifies } from '../requirements.ts';
import { spawnWriter } from './support/spawn-writer.ts';

describe('lmdb store with several processes', () => {
  it(
    verifies(
      'store.no-lost-update',
      'store.atomic.multi-object',
      'loses no write of two processes and this one, and tells it of theirs',
    ),
    async () => {
      const path = await temporaryDirectory();
      const store = await openStore({ driver: 'lmdb', path }, { clock: systemClock });
      onTestFinished(() => store.close());
      const calls = { first: 0, second: 0 };
      store.watch(['a', 'first'], () => calls.first++);
      store.watch(['a', 'second'], () => calls.second++);
      const writers = ['first', 'second'].map((name) => spawnWriter('lmdb', path, name));
      let own = 0;
      const count = (async () => {
        for (; own < 50; own++) await store.increment(['count'], 1);
      })();
      await Promise.all(writers.map((writer) => writer.reached(100)));
      await count;
      await until(() => calls.first > 0 && calls.second > 0);
      await Promise.all(writers.map((writer) => writer.kill()));
      // Reads share a snapshot for a moment; a commit of its own ends that.
      await store.increment(['read'], 1);
      const [first, second] = writers.map((writer) => writer.acknowledged);
      await expectWhole(store, 'first', first ?? []);
      await expectWhole(store, 'second', second ?? []);
      const total = (await store.get<number>(['count']))?.value ?? 0;
      expect(total).toBeGreaterThanOrEqual(own + (first?.length ?? 0) + (second?.length ?? 0));
    },
  );

  it(
    verifies(
      'sessions.stream.no-gap',
      'shows a watcher what another one committed, whatever it read a moment before',
    ),
    async () => {
      const path = await temporaryDirectory();
      const open = () => openStore({ driver: 'lmdb', path }, { clock: systemClock });
      const [writer, reader] = await Promise.all([open(), open()]);
      onTestFinished(async () => void (await Promise.all([writer.close(), reader.close()])));
      let seen = 0;
      reader.watch(['n'], () => void reader.get<number>(['n']).then((n) => (seen = n?.value ?? 0)));
      let isOver = false;
      const readOn = (): void => {
        if (isOver) return;
        void reader.get(['other']);
        setImmediate(readOn);
      };
      readOn();
      for (let n = 1; n <= 80; n++) {
        await writer.commit([{ type: 'put', key: ['n'], value: n }]);
        await until(() => seen === n);
      }
      isOver = true;
    },
  );
});
