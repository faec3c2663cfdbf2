import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { startFakeServer } from '../client/fake-server.ts';
import { verifies } from '../requirements.ts';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';

const BINARY = fileURLToPath(new URL('../../bin/gateway.js', import.meta.url));
const options = async (env: Record<string, string> = {}) => ({
  cwd: await emptyDirectory(),
  env: { PATH: process.env['PATH'] ?? '', ...env },
  extendEnv: false,
  reject: false,
});
const gateway = async (...argv: string[]) =>
  execa(process.execPath, [BINARY, ...argv], await options());

describe('the binary', () => {
  it(
    verifies('cli.binary', 'prints help and exits 0, and its failures are exit codes'),
    async () => {
      expect(await gateway('--help')).toMatchObject({ exitCode: 0, stderr: '' });
      expect(await gateway('keys', 'create', '--help')).toMatchObject({ exitCode: 0, stderr: '' });
      expect(await gateway('keyz')).toMatchObject({ exitCode: 64, stdout: '' });
      expect((await gateway('version')).stdout).toMatch(/^\d+\.\d+\.\d+/);
    },
  );

  it('helps behind global flags and their values, too', async () => {
    const argv = ['-o', 'json', '--server', 'http://127.0.0.1:1', 'models', 'get', '--help'];
    const help = await gateway('models', 'get', '--help');
    expect(await gateway(...argv)).toMatchObject({ exitCode: 0, stdout: help.stdout });
  });

  it('takes no address of a Kubernetes Service for a port', async () => {
    const base = await options({ GATEWAY_PORT: 'tcp://10.0.0.1:8787' });
    await writeFile(join(base.cwd, 'gateway.yaml'), 'version: 1\n');
    const run = await execa(process.execPath, [BINARY, 'validate'], base);
    expect(run).toMatchObject({ exitCode: 0 });
  });

  it('refuses an old Node.js with one line', async () => {
    const base = await options();
    const old = join(base.cwd, 'old.cjs');
    await writeFile(
      old,
      "Object.defineProperty(process, 'versions', { value: { node: '20.18.9' } });",
    );
    const run = await execa(process.execPath, ['-r', old, BINARY, 'version'], base);
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.stderr).toBe('gateway needs Node.js 20.19 or newer; this is 20.18.9');
  });

  it(
    verifies(
      'cli.signal.epipe',
      'ends an endless stream with 0 and silence when the reader leaves',
    ),
    async () => {
      const server = await startFakeServer((_call, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        const event = `data: ${JSON.stringify({ choices: [{ delta: { content: 'line\n' } }] })}\n\n`;
        const timer = setInterval(() => res.write(event), 5);
        res.on('close', () => clearInterval(timer));
        return undefined;
      });
      try {
        const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-x' };
        const child = execa(process.execPath, [BINARY, 'chat', 'm', 'hi'], {
          ...(await options(env)),
          buffer: { stdout: false },
          stdin: 'ignore',
        });
        child.stdout.once('data', () => child.stdout.destroy());
        expect(await child).toMatchObject({ exitCode: 0, stderr: '' });
      } finally {
        await server.close();
      }
    },
  );
});
