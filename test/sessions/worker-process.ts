import { systemClock } from '../../src/core/time/clock.ts';
import type { Clock } from '../../src/core/time/clock.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import { createSessions } from '../../src/sessions/create-sessions.ts';
import type { TurnRunner } from '../../src/sessions/sessions.ts';
import { openLmdbStore } from '../../src/store/backends/lmdb/open-lmdb-store.ts';
import { echoRunner, say } from './support.ts';

/**
 * One process that runs turns and, told to, sends messages. The first turn of a Session called `hang`
 * never ends here.
 */
export type Command =
  | { readonly send: number; readonly organization: string; readonly id: string }
  /** Sets the clocks ahead. */
  | { readonly aheadMs: number };

const [directory = '', worker = ''] = process.argv.slice(2);
let aheadMs = 0;
const clock: Clock = {
  ...systemClock,
  now: () => systemClock.now() + aheadMs,
  monotonic: () => systemClock.monotonic() + aheadMs,
};
const store = await openLmdbStore(directory, systemClock);
const jobs = createJobs({ store, clock, worker });
const runner: TurnRunner = {
  async run(log, signal) {
    const { title, usage } = log.session;
    if (title !== 'hang' || usage.input_tokens > 0) return echoRunner.run(log, signal);
    const tokens = { ...usage, input_tokens: 1 };
    await log.append([{ type: 'span.model_request_start' }], { usage: tokens });
    process.send?.({ hanging: worker });
    await new Promise(() => undefined);
  },
};
const ids = createIdSource(clock);
const { sessions, handlers } = createSessions({ store, clock, ids, jobs, runner });

process.on('message', (command: Command) => {
  if ('aheadMs' in command) aheadMs = command.aheadMs;
  else void sendMany(command);
});
jobs.start(handlers);
process.send?.('ready');

async function sendMany({ send, organization, id }: Extract<Command, { send: number }>) {
  for (let i = 0; i < send; i++) await sessions.send(organization, id, [say(`${worker} ${i}`)]);
  process.send?.({ sent: worker });
}
