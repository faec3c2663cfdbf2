import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { watchFiles } from '../../../src/server/process/watch-files.ts';
import { eventually } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

it('tells once of several changes in any of the directories, and of none after close', async () => {
  const directory = await directoryOfTest();
  const secrets = join(directory, 'secrets');
  await mkdir(secrets);
  let changes = 0;
  const watching = watchFiles(['gateway.yaml', join(secrets, 'key')], {
    cwd: directory,
    clock: systemClock,
    onChange: () => void changes++,
  });
  for (const name of ['gateway.yaml', 'another.yaml']) await writeFile(join(directory, name), 'a');
  await eventually(() => changes === 1);
  await writeFile(join(secrets, 'key'), 'b');
  await eventually(() => changes === 2);
  await writeFile(join(secrets, 'key'), 'c');
  watching.close();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(changes).toBe(2);
});

it('leaves a log beside the files alone', async () => {
  const directory = await directoryOfTest();
  await writeFile(join(directory, 'gateway.yaml'), 'a');
  let changes = 0;
  const watching = watchFiles(['gateway.yaml'], {
    cwd: directory,
    clock: systemClock,
    onChange: () => void changes++,
  });
  onTestFinished(() => watching.close());
  await writeFile(join(directory, 'gateway.log'), 'line');
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(changes).toBe(0);
  await writeFile(join(directory, 'more.yaml'), 'b');
  await eventually(() => changes === 1);
});

describe('files that take the place of the former ones', () => {
  async function setUp() {
    const directory = await directoryOfTest();
    const prompts = join(directory, 'prompts');
    await mkdir(prompts);
    for (const file of ['gateway.yaml', 'prompts/p.txt'])
      await writeFile(join(directory, file), 'a');
    const state = { changes: 0 };
    const onChange = (): void => void state.changes++;
    const watching = watchFiles(['gateway.yaml'], { cwd: directory, clock: systemClock, onChange });
    onTestFinished(() => watching.close());
    const write = (file: string, text: string) => writeFile(join(directory, file), text);
    const pause = () => new Promise((resolve) => setTimeout(resolve, 400));
    return { directory, state, watching, write, pause };
  }

  it('are watched, and the former ones no more', async () => {
    const { state, watching, write, pause } = await setUp();
    watching.follow(['gateway.yaml', 'prompts/p.txt']);
    await write('prompts/p.txt', 'bb');
    await eventually(() => state.changes === 1);
    watching.follow(['prompts/p.txt']);
    await write('gateway.yaml', 'bb');
    await pause();
    expect(state.changes).toBe(1);
    await write('prompts/p.txt', 'ccc');
    await eventually(() => state.changes === 2);
  });

  it('do not hide a change that was not told yet', async () => {
    const { state, watching, write } = await setUp();
    await write('gateway.yaml', 'bb');
    watching.follow(['gateway.yaml', 'prompts/p.txt']);
    await eventually(() => state.changes === 1);
  });

  it('are not followed where one of them cannot be watched', async () => {
    const { directory, state, watching, write } = await setUp();
    expect(() => watching.follow(['prompts/p.txt', join(directory, 'none', 'file')])).toThrow(
      'ENOENT',
    );
    await write('gateway.yaml', 'bb');
    await eventually(() => state.changes === 1);
  });
});
