import { expect, it } from 'vitest';
import type { Log } from '../../../src/core/log.ts';
import { openBodyMemory } from '../../../src/server/bodies/open-body-memory.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

async function open(limits: {
  bodyBytes?: number;
  bodyMemoryBytes?: number | null;
  requestTimeoutMs?: number;
}) {
  const clock = createFakeClock();
  const lines: string[] = [];
  const budget = await openBodyMemory({
    config: {
      limits: { bodyBytes: 100, bodyMemoryBytes: null, requestTimeoutMs: 30_000, ...limits },
      metrics: { listen: null },
    } as never,
    clock,
    log: { warn: (line: string) => lines.push(line) } as Partial<Log> as Log,
    heapLimit: 4_002,
  });
  return { budget, clock, lines };
}

it(
  verifies('limits.body-memory.setting', 'is what is set, else a quarter of the heap limit'),
  async () => {
    expect((await open({})).budget.bytes).toBe(1_000);
    expect((await open({ bodyMemoryBytes: 500 })).budget.bytes).toBe(500);
  },
);

it('is never less than one body may have', async () => {
  expect((await open({ bodyMemoryBytes: 50 })).budget.bytes).toBe(100);
  expect((await open({ bodyBytes: 2_000 })).budget.bytes).toBe(2_000);
});

it.each([
  [30_000, 10_000],
  [4_000, 2_000],
])('leaves a body of %i ms half of them to arrive, and 10 s at most', async (ms, wait) => {
  const { budget, clock } = await open({ requestTimeoutMs: ms });
  budget.tryTake({ holder: 'a', bytes: 1_000 });
  const ended: boolean[] = [];
  void budget.wait({ holder: 'b', bytes: 1 }).admitted.then((isIn) => ended.push(isIn));
  clock.advance(wait - 1);
  await Promise.resolve();
  expect(ended).toEqual([]);
  clock.advance(1);
  await Promise.resolve();
  expect(ended).toEqual([false]);
});

it('says once a minute that bodies wait', async () => {
  const { budget, clock, lines } = await open({});
  budget.tryTake({ holder: 'a', bytes: 1_000 });
  for (const seconds of [0, 59, 1, 30]) {
    clock.advance(seconds * 1_000);
    budget.wait({ holder: 'b', bytes: 1 }).cancel();
  }
  expect(lines).toHaveLength(2);
});
