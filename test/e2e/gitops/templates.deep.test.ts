import { once } from 'node:events';
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { TEMPLATES } from '../../../src/config/read/init-template.ts';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { eventually, newDirectory, spawnGateway } from '../../support/gateway.ts';
import type { PutCommand } from '../../support/process/built-command.ts';
import { putServingCommand } from './serving-command.ts';

let directory: string;
let command: PutCommand;
let env: Record<string, string>;

// A machine with the command on its path and nothing else of this package.
beforeAll(async () => {
  directory = await realpath(await newDirectory());
  const bin = join(directory, 'bin');
  await mkdir(bin);
  command = await putServingCommand(bin);
  env = {
    PATH: [bin, process.env['PATH'] ?? ''].join(':'),
    HOME: directory,
    ANTHROPIC_API_KEY: 'sk-unused',
    GATEWAY_DRAIN_IDLE: '50ms',
  };
});
afterAll(async () => {
  await command.close();
  await rm(directory, { recursive: true, force: true });
});

const run = (cwd: string, program: string, ...words: string[]) =>
  execa(program, words, { cwd, env, extendEnv: false });

/** The first objects that a repository gets, with secrets of their own. */
const ADDED = `version: 1
providers: [{ name: extra, type: openai, api_key: "\${secret:env:EXTRA_KEY}" }]
models: [{ name: extra/one, routes: [{ provider: extra }] }]
keys: [{ name: ci, value: "\${secret:env:CI_KEY}" }]
`;

/** One of the first half and one of the second: a turn has two. */
const PAIRS = TEMPLATES.slice(0, 4).map((one, at) => [one, ...TEMPLATES.slice(at + 4, at + 5)]);

it.each(inTurn('templates', PAIRS).flat())(
  verifies('templates.work', 'the template %s is valid and passes its test, which does its job'),
  async (template) => {
    const cwd = join(directory, template);
    await run(directory, 'gateway', 'init', '--template', template, cwd);
    await run(cwd, 'gateway', 'validate');
    if (template === 'gitops') await writeFile(join(cwd, 'config', 'added.yaml'), ADDED);
    const { exitCode, stdout } = await execa('node', ['--test'], {
      cwd,
      env,
      extendEnv: false,
      reject: false,
    });
    expect(stdout).toMatch(/^# pass [1-9]/m);
    expect(stdout).toMatch(/^# fail 0$/m);
    expect(exitCode).toBe(0);
  },
);

it(
  verifies('templates.work', 'the template env starts in its directory, where commands find it'),
  async () => {
    const cwd = join(directory, 'started');
    await run(directory, 'gateway', 'init', '--template', 'env', cwd);
    const server = spawnGateway(['start', '--port', '0'], { cwd, env });
    const ended = once(server, 'exit');
    onTestFinished(async () => {
      server.kill();
      await ended;
    });
    await eventually(() => server.log().includes('gateway listening'));
    expect((await run(cwd, 'gateway', 'apply', '--yes')).stdout).toMatch(/^no changes/m);
    const explained = await run(cwd, 'gateway', 'models', 'explain', 'claude-sonnet-4-5');
    expect(explained.stdout).toMatch(/anthropic/);
  },
);
