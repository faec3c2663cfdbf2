import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { listenForSignals } from '../../../src/server/process/listen-for-signals.ts';
import type { SignalsOptions } from '../../../src/server/process/listen-for-signals.ts';
import { eventually } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

function listen(options: Pick<SignalsOptions, 'cwd' | 'watched'>) {
  const done: string[] = [];
  const warned: string[] = [];
  const signals = listenForSignals({
    ...options,
    clock: systemClock,
    log: { warn: (message) => void warned.push(message) },
    reload: async () => null,
    restart: async () => null,
    note: async ({ action }) => void done.push(action),
  });
  onTestFinished(() => signals.stop());
  return { signals, done, warned };
}

it('reloads by SIGHUP and restarts by SIGUSR2 until it is stopped', async () => {
  const { signals, done } = listen({ cwd: '/' });
  process.emit('SIGHUP');
  await eventually(() => done.length === 1);
  process.emit('SIGUSR2');
  await eventually(() => done.length === 2);
  expect(done).toEqual(['reload', 'restart']);
  const listeners = process.listenerCount('SIGHUP');
  signals.stop();
  expect(process.listenerCount('SIGHUP')).toBe(listeners - 1);
});

it('reloads by a change of the files that it was told of last', async () => {
  const cwd = await directoryOfTest();
  for (const file of ['gateway.yaml', 'prompt.txt']) await writeFile(join(cwd, file), 'a');
  const { signals, done } = listen({ cwd, watched: ['gateway.yaml'] });
  signals.follow(['gateway.yaml', 'prompt.txt']);
  await writeFile(join(cwd, 'prompt.txt'), 'bb');
  await eventually(() => done.length === 1);
});

it('warns of files that cannot be watched, and watches none where none were to be', async () => {
  const cwd = await directoryOfTest();
  const { signals, warned } = listen({ cwd, watched: ['gateway.yaml'] });
  signals.follow([join(cwd, 'none', 'file')]);
  expect(warned).toEqual([expect.stringContaining('send SIGHUP after a change')]);
  const without = listen({ cwd });
  without.signals.follow([join(cwd, 'none', 'file')]);
  expect(without.warned).toEqual([]);
});
