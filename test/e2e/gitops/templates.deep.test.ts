import { once } from 'node:events';
import { chmod, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { TEMPLATES } from '../../../src/config/read/init-template.ts';
import { verifies } from '../../requirements.ts';
import { BINARY, eventually, newDirectory, spawnGateway } from '../../support/gateway.ts';

const SLOW = 120_000;
/** A line that the user of a template types once it runs, and what comes of it. */
const DEEDS: Readonly<Record<(typeof TEMPLATES)[number], readonly [string[], RegExp]>> = {
  local: [['chat', 'mock/failover', 'hello'], /^You said: hello$/],
  env: [['models', 'explain', 'claude-sonnet-4-5'], /anthropic/],
  'agent-service': [['invoke', 'desk', 'Where is A-17?', '--follow'], /A-17: .*shipped/],
  'acp-agent': [['invoke', 'notes', 'remember: buy milk', '--follow'], /^Noted: buy milk$/],
  gitops: [
    ['apply', '-f', 'config', '--overlay', 'overlays/staging.yaml', '--yes'],
    /^5 applied, 0 failed/m,
  ],
  plugin: [
    ['plugins', 'install', '.', '--yes'],
    /^plugin gateway-plugin-report 1\.0\.0 installed$/,
  ],
  'scheduled-report': [['trigger', 'morning-report', '--tail'], /agent\.message .*57 orders/],
};

let directory: string;
let command: string;
let env: Record<string, string>;

// A machine with the command on its path and nothing else of this package.
beforeAll(async () => {
  directory = await realpath(await newDirectory());
  await mkdir(join(directory, 'bin'));
  command = join(directory, 'bin', 'gateway');
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`);
  await chmod(command, 0o755);
  const path = [join(directory, 'bin'), process.env['PATH'] ?? ''].join(':');
  env = { PATH: path, HOME: directory, ANTHROPIC_API_KEY: 'sk-unused' };
});
afterAll(() => rm(directory, { recursive: true, force: true }));

it.each(TEMPLATES)(
  verifies(
    'templates.work',
    'the template %s is valid, starts, is applied, does its job and passes its test',
  ),
  async (template) => {
    const cwd = join(directory, template);
    const options = { cwd, env, extendEnv: false };
    await execa(command, ['init', '--template', template, cwd], { ...options, cwd: directory });
    await execa(command, ['validate'], options);

    const { exitCode, stdout } = await execa('node', ['--test'], { ...options, reject: false });
    expect(stdout).toMatch(/^# pass [1-9]/m);
    expect(stdout).toMatch(/^# fail 0$/m);
    expect(exitCode).toBe(0);

    const server = spawnGateway(['start', '--port', '0'], { cwd, env });
    const ended = once(server, 'exit');
    onTestFinished(async () => {
      server.kill();
      await ended;
    });
    await eventually(() => server.log().includes('gateway listening'), SLOW);
    const applied = await execa(command, ['apply', '--yes'], options);
    expect(applied.stdout).toMatch(/^no changes/m);
    const [words, outcome] = DEEDS[template];
    expect((await execa(command, words, options)).stdout).toMatch(outcome);
  },
  SLOW,
);
