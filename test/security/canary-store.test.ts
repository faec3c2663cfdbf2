import { rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runCli } from '../cli/run-cli.ts';
import { expectNowhere } from '../support/find-secrets.ts';
import { newDirectory, writeConfig } from '../support/gateway.ts';
import { refusedStart } from '../support/process/refused-start.ts';

const PASSWORD = 'canary-store-password-ad9156';
const DEAD = `user:${PASSWORD}@127.0.0.1:1`;

it.each([
  ['redis', `redis://${DEAD}/0`, ['start', 'doctor', 'store verify']],
  ['redis', `http://${DEAD}/0`, ['start']],
  ['postgres', `postgres://${DEAD}/db`, ['start', 'doctor', 'store verify']],
  ['postgres', `postgres://user:${PASSWORD}@[/db`, ['start']],
])(
  'the password of a store that cannot be reached is not told: %s %#',
  async (driver, url, all) => {
    const cwd = await newDirectory();
    const server = { store: { driver, options: { url: '${secret:env:STORE_URL}' } } };
    await writeConfig(cwd, { server }, true);
    for (const words of all) {
      const place = { cwd, env: { STORE_URL: url } };
      // A start writes past the streams that a command line is given.
      const run = words === 'start' ? undefined : await runCli(words.split(' '), place);
      const said = run ? run.stdout + run.stderr : (await refusedStart(place)).said;
      expect(said).not.toBe('');
      expectNowhere(said, { password: PASSWORD }, words);
    }
    await rm(cwd, { recursive: true, force: true });
  },
);
