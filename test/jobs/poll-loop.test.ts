import { expect, it, onTestFinished } from 'vitest';
import { PollLoop } from '../../src/jobs/poll-loop.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** Everything that can run before the next timer has run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A loop whose polls give these sleeps in turn, an hour after them; an error is thrown. */
function setUp(sleeps: (number | Error)[] = []) {
  const clock = createFakeClock();
  const polled: number[] = [];
  const reported: unknown[] = [];
  const loop = new PollLoop({
    clock,
    maxSleepMs: 5_000,
    async poll() {
      polled.push(clock.monotonic());
      const sleep = sleeps.shift() ?? 3_600_000;
      if (sleep instanceof Error) throw sleep;
      return sleep;
    },
    report: (error) => reported.push(error),
  });
  onTestFinished(() => loop.close());
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settled();
  };
  return { clock, loop, polled, reported, advance };
}

it('polls nothing before it is woken, and then at once and once', async () => {
  const { loop, polled, advance } = setUp();
  await advance(60_000);
  expect(polled).toEqual([]);
  loop.wake();
  await settled();
  expect(polled).toEqual([60_000]);
});

it('polls again when a poll says, and at once where that is now', async () => {
  const { loop, polled, advance } = setUp([0, 0, 700]);
  loop.wake();
  await settled();
  expect(polled).toEqual([0, 0, 0]);
  await advance(699);
  expect(polled).toHaveLength(3);
  await advance(1);
  expect(polled).toEqual([0, 0, 0, 700]);
});

it('sleeps no longer than it may', async () => {
  const { loop, polled, advance } = setUp();
  loop.wake();
  await settled();
  await advance(4_999);
  expect(polled).toEqual([0]);
  await advance(1);
  expect(polled).toEqual([0, 5_000]);
});

it('polls once more for all who wake it during a poll', async () => {
  const { loop, polled } = setUp();
  loop.wake();
  loop.wake();
  await settled();
  // The first poll had begun before the second call.
  expect(polled).toEqual([0, 0]);
});

it('forgets the sleep that somebody cut short', async () => {
  const { clock, loop, polled, advance } = setUp([1_000]);
  loop.wake();
  await settled();
  await advance(400);
  loop.wake();
  await settled();
  expect(polled).toEqual([0, 400]);
  expect(clock.pending).toBe(1);
  await advance(600);
  expect(polled).toEqual([0, 400]);
});

it('reports a poll that failed, and polls again a second later', async () => {
  const broken = new Error('no store');
  const { loop, polled, reported, advance } = setUp([broken]);
  loop.wake();
  await settled();
  expect(reported).toEqual([broken]);
  await advance(999);
  expect(polled).toEqual([0]);
  await advance(1);
  expect(polled).toEqual([0, 1_000]);
});

it('waits at its close for the poll under way, and begins none after it', async () => {
  let resolve!: (sleep: number) => void;
  const promise = new Promise<number>((give) => (resolve = give));
  const clock = createFakeClock();
  let polls = 0;
  const poll = (): Promise<number> => {
    polls++;
    return promise;
  };
  const loop = new PollLoop({ clock, maxSleepMs: 5_000, poll, report: expect.fail });
  loop.wake();
  loop.wake();
  let isClosed = false;
  const closed = loop.close().then(() => (isClosed = true));
  expect(loop.isClosed).toBe(true);
  await settled();
  expect(isClosed).toBe(false);
  resolve(0);
  await closed;
  loop.wake();
  await settled();
  expect(polls).toBe(1);
  expect(clock.pending).toBe(0);
});

it('forgets its sleep at its close', async () => {
  const { clock, loop } = setUp();
  loop.wake();
  await settled();
  expect(clock.pending).toBe(1);
  await loop.close();
  expect(clock.pending).toBe(0);
  expect(loop.isClosed).toBe(true);
});
