import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import {
  listenForSignals,
  noteEarlySignals,
} from '../../../src/server/process/listen-for-signals.ts';
import type { SignalsOptions } from '../../../src/server/process/listen-for-signals.ts';
import { eventually } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

type Given = Pick<SignalsOptions, 'cwd' | 'watched'> &
  Partial<Pick<SignalsOptions, 'early' | 'ready'>>;

function listen(options: Given) {
  const done: string[] = [];
  const warned: string[] = [];
  const signals = listenForSignals({
    early: [],
    ready: Promise.resolve(),
    ...options,
    clock: systemClock,
    log: { warn: (message) => void warned.push(message) },
    reload: async () => ({ error: null }),
    restart: async () => ({ error: null }),
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

it('does once it is ready what it was asked for before', async () => {
  const others = process.listeners('SIGHUP');
  const noted = noteEarlySignals();
  for (const signal of ['SIGHUP', 'SIGUSR2', 'SIGHUP'] as const) process.emit(signal);
  const early = noted.take();
  // A listener of another module may have been for one signal.
  expect(others).toEqual(expect.arrayContaining(process.listeners('SIGHUP')));
  let setReady = (): void => expect.fail();
  const ready = new Promise<void>((resolve) => (setReady = resolve));
  const { done } = listen({ cwd: '/', early, ready });
  process.emit('SIGHUP');
  await new Promise(setImmediate);
  expect(done).toEqual([]);
  setReady();
  await eventually(() => done.length === 2);
  expect(done).toEqual(['reload', 'restart']);
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
