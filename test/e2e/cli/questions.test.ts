import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../../src/cli/input/ask.ts';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { adminEnv } from '../../support/binary.ts';
import { BINARY, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const FILE = 'version: 1\nmodels: [{ name: own/echo, routes: [{ provider: mock }] }]\n';
const [CTRL_C, CTRL_D] = ['\u0003', '\u0004'];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ providers: [{ name: 'mock', type: 'mock' }] });
  await writeFile(join(gateway.directory, 'own.yaml'), FILE);
});
afterAll(() => gateway.stop());

/** Runs a command line on a terminal and types when it asks. */
async function typed(keys: string, ...argv: string[]): Promise<{ code: number; shown: string }> {
  const line = [process.execPath, BINARY, ...argv].join(' ');
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd: gateway.directory,
    env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1', ...adminEnv(gateway) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const wasAsked = shown.includes('[y/N]');
    shown += chunk.toString();
    if (!wasAsked && shown.includes('[y/N]')) child.stdin.write(keys);
  });
  const [code] = await once(child, 'close');
  return { code, shown };
}

async function models(): Promise<unknown[]> {
  return (await gateway.admin('GET', '/admin/v1/models')).body.data;
}

async function revokedAt(): Promise<unknown> {
  return (await gateway.admin('GET', '/admin/v1/keys/default')).body.revoked_at;
}

/** What comes of a question that is answered with this line. */
function answered(line: string): Promise<void> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.write(line);
  return ask('Go on?', { input, output, signal: new AbortController().signal });
}

describe('a question on a terminal', () => {
  it(
    verifies('cli.signal.sigint-question', 'that is left by Ctrl-C is exit 130, nothing written'),
    async () => {
      const applied = await typed(CTRL_C, 'apply', '-f', 'own.yaml');
      expect(applied.shown).toContain('Apply 1 change to http');
      expect(applied.shown).toContain('\r\nerror: interrupted; nothing was changed');
      expect([applied.code, await models()]).toEqual([130, []]);
      const revoked = await typed(CTRL_C, 'keys', 'revoke', 'default');
      expect(revoked.code).toBe(130);
      expect(await revokedAt()).toBeNull();
    },
  );

  it('that ends, or is answered with no, is exit 1', async () => {
    for (const keys of [CTRL_D, 'n\r']) {
      const left = await typed(keys, 'keys', 'revoke', 'default');
      expect([left.code, await revokedAt()]).toEqual([1, null]);
      expect(left.shown).toContain('\r\nerror: nothing was changed');
    }
  });

  it.each(['n\n', '\n', 'no\n', 'yesterday\n'])('takes %j for no', async (line) => {
    await expect(answered(line)).rejects.toMatchObject({ code: 'declined' });
  });

  it.each(['y\n', 'YES\n'])('takes %j for yes', async (line) => {
    await expect(answered(line)).resolves.toBeUndefined();
  });

  it('that is answered with yes goes on', async () => {
    expect(await typed('yes\r', 'apply', '-f', 'own.yaml')).toMatchObject({ code: 0 });
    expect(await models()).toMatchObject([{ name: 'own/echo' }]);
  });

  it('comes before adopt takes what nobody owns', async () => {
    await gateway.admin('POST', '/admin/v1/providers', { name: 'free', type: 'mock' });
    const text = 'version: 1\nnamespace: team\nproviders: [{ name: free, type: mock }]\n';
    await writeFile(join(gateway.directory, 'free.yaml'), text);
    const labels = async (): Promise<object> =>
      (await gateway.admin('GET', '/admin/v1/providers/free')).body.labels;

    const left = await typed('n\r', 'adopt', '-f', 'free.yaml');
    expect(left.shown).toContain('provider free');
    expect(left.shown).toContain('Take 1 object into namespace team? [y/N]');
    expect([left.code, await labels()]).toEqual([1, {}]);
    const cwd = gateway.directory;
    const adopt = (...flags: string[]) =>
      runCli(['adopt', '-f', 'free.yaml', ...flags], { cwd, env: adminEnv(gateway) });
    expect((await adopt('--yes')).code).toBe(0);
    expect(await labels()).toEqual({ 'gateway/namespace': 'team' });
    // Where nothing is to be taken, nothing is asked.
    expect((await adopt()).code).toBe(0);
  });

  it('is left by a signal of another process, too', async () => {
    const stop = new AbortController();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const answer = ask('Go on? ', { input, output, signal: stop.signal });
    stop.abort();
    await expect(answer).rejects.toMatchObject({ code: 'interrupted', exitCode: 130 });
  });
});
