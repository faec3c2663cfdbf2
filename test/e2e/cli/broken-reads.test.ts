import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import type { CliRun } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';

const FILE = 'version: 1\nmodels: [{ name: a/b, routes: [{ provider: mock }] }]\n';
const MAY_HAVE_ACTED = 'the call may have taken effect; look before you repeat it';

/** Runs a command line against a server of these answers. */
async function against(answer: RequestListener, ...argv: string[]): Promise<CliRun> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const run = await at(`http://127.0.0.1:${port}`, ...argv);
  server.close();
  server.closeAllConnections();
  return run;
}

async function at(url: string, ...argv: string[]): Promise<CliRun> {
  const cwd = await emptyDirectory();
  await writeFile(join(cwd, 'gateway.yaml'), FILE);
  return runCli(argv, { cwd, env: { GATEWAY_SERVER: url, GATEWAY_API_KEY: 'sk-x' } });
}

const cut: RequestListener = (request) => request.socket.destroy();

// A read is repeated after pauses, which all of them spend together.
describe.concurrent('a connection that breaks', () => {
  it.each([
    ['plan'],
    ['diff'],
    ['drift'],
    ['apply', '--yes'],
    ['services', 'list'],
    ['sessions', 'tail', 'sess_1'],
    ['keys', 'revoke', 'one', '--yes'],
  ])(
    verifies('cli.read.connection-broken', 'during a read is exit 1 and "run it again": %s %s'),
    async (...argv) => {
      const words = argv.filter((word) => word !== undefined);
      const broken = await against(cut, ...words);
      expect([broken.code, broken.stdout]).toEqual([1, '']);
      expect(broken.stderr).toMatch(/^error: the connection to \S+ was lost$/m);
      expect(broken.stderr).toMatch(/^hint: nothing was changed by this; run it again/m);
      expect(broken.stderr).not.toContain('effect');
    },
  );

  it(verifies('cli.read.connection-broken', 'in the middle of a file is exit 1, too'), async () => {
    const broken = await against(
      (request, response) => {
        if (!request.url?.endsWith('/content')) {
          response.end(JSON.stringify({ id: 'file_1', type: 'file', name: 'a.txt' }));
          return;
        }
        response.writeHead(200, { 'content-length': '100' });
        response.write('half', () => response.destroy());
      },
      'files',
      'download',
      'file_1',
    );
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining('run it again')]);
  });

  it('during a write stays an unknown outcome', async () => {
    const broken = await against(cut, 'keys', 'create', 'one');
    expect([broken.code, broken.stderr]).toEqual([8, expect.stringContaining(MAY_HAVE_ACTED)]);
  });

  it('before anything was sent has changed nothing', async () => {
    for (const url of ['http://127.0.0.1:1', 'http://127.0.0.1:6000']) {
      const refused = await at(url, 'keys', 'create', 'one');
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining(`cannot reach ${url}`),
      ]);
    }
    const plain = await against(cut, 'keys', 'create', 'one', '--server', 'https://127.0.0.1:1');
    expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining('cannot reach')]);
  });

  it('because of --timeout is exit 8, and of a read nothing has taken effect', async () => {
    const late = await against(() => undefined, 'services', 'list', '--timeout', '300ms');
    expect([late.code, late.stderr]).toEqual([
      8,
      expect.stringContaining('hint: nothing was changed; run it again, or raise --timeout'),
    ]);
    expect(late.stderr).not.toContain('effect');
  });
});
