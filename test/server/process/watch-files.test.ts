import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
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
