import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { verifies } from '../../requirements.ts';
import { createAuthority } from '../../support/certificates.ts';
import { startConnectProxy } from '../../support/stage/connect-proxy.ts';

const authority = createAuthority('Doctors');
afterAll(() => authority.dispose());

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

it(
  verifies(
    'net.doctor',
    'says of each provider whether address, proxy and certificate work, or why not',
  ),
  async () => {
    const cwd = await emptyDirectory();
    const good = await listening(createServer((_request, response) => response.end()));
    const secure = await listening(createTlsServer(authority.issue('models.example')));
    const gone = createServer();
    const free = await listening(gone);
    await new Promise((resolve) => gone.close(resolve));
    const proxy = await startConnectProxy();
    const refusing = await startConnectProxy({ refuse: () => 403 });
    onTestFinished(() => Promise.all([proxy.close(), refusing.close()]).then(() => undefined));
    const plain = `http://127.0.0.1:${good}`;
    const providers = [
      { name: 'direct', base_url: `${plain}/v1`, proxy: 'none' },
      { name: 'through', base_url: `${plain}/v1` },
      { name: 'refusing', base_url: `${plain}/v1`, proxy: refusing.url },
      { name: 'no-proxy-there', base_url: `${plain}/v1`, proxy: `http://127.0.0.1:${free}` },
      { name: 'nobody', base_url: `http://127.0.0.1:${free}/v1`, proxy: 'none' },
      { name: 'untrusted', base_url: `https://127.0.0.1:${secure}/v1`, proxy: 'none' },
    ].map((one) => ({ type: 'custom', auth: { type: 'none' }, ...one }));
    await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify({ version: 1, providers }));
    const env = { HOME: cwd, HTTP_PROXY: proxy.url };
    const run = await runCli(['doctor', '--json'], { cwd, env });
    const findings: { name: string; state: string; message: string; hint?: string }[] =
      run.json().data.findings;
    const about = (name: string) => findings.find((one) => one.name === `provider ${name}`);
    expect(about('direct')).toMatchObject({ state: 'ok', message: `${plain} answers` });
    expect(about('through')).toMatchObject({
      state: 'ok',
      message: `${plain} answers through the proxy ${proxy.url}`,
    });
    expect(proxy.asked).toEqual([`127.0.0.1:${good}`]);
    expect(about('refusing')).toMatchObject({
      state: 'bad',
      message: `${plain} cannot be reached through the proxy ${refusing.url}: PROXY_REFUSED, proxy ${refusing.url} answered 403`,
      hint: expect.stringContaining('NO_PROXY'),
    });
    expect(about('no-proxy-there')).toMatchObject({
      state: 'bad',
      message: expect.stringContaining(
        `ECONNREFUSED, proxy http://127.0.0.1:${free} cannot be reached`,
      ),
    });
    expect(about('nobody')).toMatchObject({
      state: 'bad',
      message: `http://127.0.0.1:${free} cannot be reached: ECONNREFUSED`,
    });
    expect(about('untrusted')).toMatchObject({
      state: 'bad',
      message: expect.stringMatching(/UNABLE_TO_\w+, certificate of models\.example by Doctors/),
      hint: expect.stringContaining('tls.ca'),
    });
  },
  30_000,
);
