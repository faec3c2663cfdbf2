import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { outputSchema } from '../../../src/cli/shapes/output-schema.ts';
import { PROCESS_COMMANDS } from '../../../src/cli/tables/process-commands.ts';
import { verifies } from '../../requirements.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { placeOf } from '../../support/process/place-of.ts';
import { createAjv } from '../../support/schemas/create-ajv.ts';
import { runCli } from '../run-cli.ts';
import type { CliRun } from '../run-cli.ts';

/** Takes the signals of a gateway: a hang-up writes down the outcome that `outcome.json` holds. */
const FAKE = `
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
process.on('SIGHUP', () => {
  const file = process.argv[1];
  const record = JSON.parse(readFileSync(file));
  const outcome = JSON.parse(readFileSync(file + '.outcome'));
  const last = { action: 'reload', begun: Date.now(), at: Date.now(), error: null, ...outcome };
  writeFileSync(file + '.new', JSON.stringify({ ...record, last }));
  renameSync(file + '.new', file);
});
process.on('SIGTERM', () => process.argv[2] === 'deaf' || process.exit(0));
setInterval(() => undefined, 1000);
process.stdout.write('ready');
`;

let cwd: string;
let file: string;
const URL = 'http://127.0.0.1:9';

beforeEach(async () => {
  cwd = await directoryOfTest();
  file = join(cwd, '.gateway', 'runtime.json');
  await mkdir(join(cwd, '.gateway'));
});

async function startFake(...args: string[]): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ['-e', FAKE, file, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const facts = { url: URL, since: '2026-01-01T00:00:00Z', version: '1', watch: false };
  const files = [join(cwd, 'gateway.yaml')];
  await write({ ...facts, files, ...placeOf(child.pid ?? 0) });
  return child as ChildProcess & { pid: number };
}

const write = (record: object) => writeFile(file, JSON.stringify(record));
const answer = (outcome: object) => writeFile(`${file}.outcome`, JSON.stringify(outcome));
const run = (...argv: string[]): Promise<CliRun> => runCli(argv, { cwd, env: { HOME: cwd } });
/** The document of a command, which must be of its published shape. */
async function documentOf(command: string): Promise<{ data: unknown; error: { code: string } }> {
  const document = (await run(command, '-o', 'json')).json();
  const spec = PROCESS_COMMANDS.find(({ name }) => name === command) ?? expect.fail(command);
  const ajv = createAjv();
  const validate = ajv.compile(outputSchema(spec));
  expect([validate(document), ajv.errorsText(validate.errors)]).toEqual([true, 'No errors']);
  return document;
}

describe('gateway reload', () => {
  it(verifies('process.status', 'says what changed, and what takes effect later'), async () => {
    await startFake();
    await answer({
      changes: [
        { action: 'create', kind: 'model', identity: 'a/b', paths: [] },
        { action: 'update', kind: 'provider', identity: 'p', paths: ['base_url', 'labels.a'] },
        { action: 'delete', kind: 'model', identity: 'a/c', paths: [] },
      ],
      later: ['server.listen'],
    });
    const { code, stdout } = await run('reload');
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toEqual([
      '+ create model a/b',
      '~ update provider p  (base_url, labels.a)',
      '- delete model a/c',
      'reloaded gateway.yaml: 1 created, 1 updated, 1 removed',
      'not yet: server.listen changed, which takes effect at the next start',
    ]);
  });

  it.each([
    [{ error: 'the configuration is invalid', isInvalid: true }, 3, 'invalid_config'],
    [{ error: 'the configuration could not be applied' }, 1, 'not_reloaded'],
    [{ left: 2 }, 5, 'left_unchanged'],
  ])('exits by the outcome %j', async (outcome, code, reason) => {
    await startFake();
    await answer({ ...outcome, problems: ['gateway.yaml:1:1: error: m'] });
    const shown = await run('reload');
    expect(shown.code).toBe(code);
    expect(shown.stderr).toContain('gateway.yaml:1:1: error: m');
    expect((await documentOf('reload')).error.code).toBe(reason);
  });

  it('takes no outcome of an earlier reload for its own', async () => {
    await startFake();
    await answer({ begun: 1 });
    const { code, stderr } = await run('reload', '--timeout', '200ms');
    expect(code).toBe(8);
    expect(stderr).toContain('has not read its files again');
  });
});

describe('gateway stop', () => {
  it(verifies('process.status', 'waits until the process has ended'), async () => {
    const child = await startFake();
    const exit = once(child, 'exit');
    expect((await documentOf('stop')).data).toMatchObject({ pid: child.pid, url: URL, others: 0 });
    expect(await exit).toEqual([0, null]);
    expect((await run('stop')).code).toBe(1);
  });

  it('gives up after --timeout, and says what goes on', async () => {
    const child = await startFake('deaf');
    const { code, stderr } = await run('stop', '--timeout', '150ms');
    expect(code).toBe(8);
    expect(stderr).toContain(`process ${child.pid} got SIGTERM and has not ended`);
  });
});

describe('a file of another process', () => {
  it.each([
    [
      'has its id and not its start',
      (pid: number) => ({ ...placeOf(pid), started: '1' }),
      'has ended without removing it',
    ],
    ['names no start', () => ({}), 'not sure that it is the gateway'],
  ])(verifies('process.status', 'gets no signal: it %s'), async (_what, more, words) => {
    const child = await startFake();
    const record = JSON.parse(await readFile(file, 'utf8'));
    const place = 'started' in more(child.pid) ? { ...record.place, started: '1' } : undefined;
    await write({ ...record, place });
    for (const command of ['stop', 'reload']) {
      const { code, stderr } = await run(command);
      expect(code).toBe(1);
      expect(stderr).toContain(words);
    }
    expect(child.exitCode).toBeNull();
    expect(JSON.parse(await readFile(file, 'utf8')).last).toBeUndefined();
  });

  it('is nowhere, with the folder that was looked at', async () => {
    const { code, stderr } = await run('status');
    expect(code).toBe(1);
    expect(stderr).toContain('no gateway runs in .gateway');
    expect((await run('status', '-o', 'json')).json().data).toMatchObject({ running: false });
    const named = await run('stop', '-c', 'typo.yaml');
    expect(named).toMatchObject({ code: 3 });
    expect(named.stderr).toContain('typo.yaml does not exist');
  });

  it('of a named file is no other one’s', async () => {
    await startFake();
    await writeFile(join(cwd, 'other.yaml'), 'version: 1\nserver: { data_dir: other }\n');
    const { code, stderr } = await run('stop', '-c', 'other.yaml');
    expect(code).toBe(1);
    expect(stderr).toContain('no gateway runs in other');
  });
});

describe('gateway status', () => {
  it('says what is known of one that does not answer', async () => {
    const child = await startFake();
    const { code, stdout } = await run('status');
    expect(code).toBe(0);
    expect(stdout).toContain(`could not be asked: process ${child.pid} since 2026-01-01T00:00:00Z`);
    expect(stdout).toContain('gateway.yaml, at `gateway reload`');
    const { data } = await documentOf('status');
    expect(data).toMatchObject({ running: true, pid: child.pid, url: URL, gateway: null });
  });
});
