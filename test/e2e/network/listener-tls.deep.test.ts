import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { createAuthority } from '../../support/certificates.ts';
import type { Issued } from '../../support/certificates.ts';
import { eventually, startGateway, writeConfig } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const authority = createAuthority('Listeners');
afterAll(() => authority.dispose());

const PIECES = 20;
const CONFIG = {
  server: { listen: { tls: { cert: 'tls.crt', key: 'tls.key' } } },
  providers: [
    {
      name: 'mock',
      type: 'mock',
      mock: {
        rules: [{ reply: { chunks: PIECES, chunk_delay_ms: 150, text: 'word '.repeat(40) } }],
      },
    },
  ],
  models: [{ name: 'm/slow', routes: [{ provider: 'mock' }] }],
};

async function folderWith(issued: Issued): Promise<string> {
  const directory = await directoryOfTest();
  await put(directory, issued);
  return directory;
}

async function put(directory: string, { cert, key }: Issued): Promise<void> {
  await writeFile(join(directory, 'tls.crt'), cert);
  await writeFile(join(directory, 'tls.key'), key);
}

const trust = (name: string) => ({ ca: authority.ca, servername: name });

/** Name in the certificate that a new connection gets. */
async function nameServed({ url }: TestGateway): Promise<string> {
  const port = Number(new URL(url).port);
  const socket = connect({ host: '127.0.0.1', port, ca: authority.ca, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return [subject.CN].flat().join();
}

async function stream({ url, clientKey }: TestGateway, name: string): Promise<IncomingMessage> {
  const sent = request(`${url}/v1/chat/completions`, {
    ...trust(name),
    method: 'POST',
    headers: { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json' },
  });
  const messages = [{ role: 'user', content: 'go on' }];
  sent.end(JSON.stringify({ model: 'm/slow', stream: true, messages }));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
}

const PROCESSES: [string, string[]][] = [
  ['one process', []],
  ['workers', ['--workers', '2']],
];

it.each(inTurn('processes of a listener', PROCESSES))(
  verifies('net.listener-tls', 'new connections get a changed certificate, streams go on: %s'),
  async (_what, args) => {
    const directory = await folderWith(authority.issue('before.example'));
    const gateway = await startGateway(CONFIG, { binary: true, directory, args });
    onTestFinished(async () => void (await gateway.stop()));
    expect(gateway.url).toMatch(/^https:/);
    expect(await nameServed(gateway)).toBe('before.example');

    const answer = await stream(gateway, 'before.example');
    expect(answer.statusCode).toBe(200);
    let said = '';
    answer.setEncoding('utf8').on('data', (piece: string) => (said += piece));
    const ended = once(answer, 'end');
    await once(answer, 'data');

    await put(directory, authority.issue('after.example'));
    let inARow = 0;
    await eventually(async () => {
      const isRenewed = (await nameServed(gateway)) === 'after.example';
      inARow = isRenewed ? inARow + 1 : 0;
      // Connections go to the workers in turn.
      return inARow === 8;
    });
    const inTime = !said.includes('[DONE]');
    await ended;
    expect(inTime).toBe(true);
    expect(said).toContain('[DONE]');

    await writeFile(join(directory, 'tls.key'), authority.issue('other.example').key);
    await eventually(() => gateway.log().includes('the certificate was not renewed'));
    expect(gateway.log()).toContain('is not the key of the first certificate');
    expect(await nameServed(gateway)).toBe('after.example');
    expect(await gateway.stop()).toBe(0);
  },
  60_000,
);

it('a hangup renews, and what speaks no TLS, or nothing, does not keep a stop waiting', async () => {
  const directory = await folderWith(authority.issue('one.example'));
  const gateway = await startGateway(CONFIG, { binary: true, directory });
  onTestFinished(async () => void (await gateway.stop()));
  const port = Number(new URL(gateway.url).port);
  const plain = connectPlain(port, '127.0.0.1').on('error', () => undefined);
  const closed = once(plain, 'close');
  plain.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await closed;
  const silent = connect({ port, host: '127.0.0.1', ...trust('one.example') });
  await once(silent, 'secureConnect');
  const gone = once(silent, 'close');
  silent.resume();
  gateway.child?.kill('SIGHUP');
  await eventually(() => gateway.log().includes('configuration reloaded'));
  expect(await gateway.stop()).toBe(0);
  await gone;
}, 30_000);

it.each([
  [
    'another key',
    (one: Issued, two: Issued) => ({ cert: one.cert, key: two.key }),
    'key',
    'is not the key',
  ],
  [
    'no certificate',
    (one: Issued) => ({ cert: 'x', key: one.key }),
    'cert',
    'holds no certificate',
  ],
  ['no key', (one: Issued) => ({ cert: one.cert, key: 'x' }), 'key', 'holds no private key'],
])('a start with %s is refused with the place of its file', async (...[, pick, part, reason]) => {
  const directory = await folderWith(
    pick(authority.issue('one.example'), authority.issue('two.example')),
  );
  const file = await writeConfig(directory, CONFIG, true);
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  const { code } = await runCli(['start', '-c', file], { cwd: directory });
  const said = write.mock.calls.map(([text]) => String(text)).join('');
  expect(code).toBe(3);
  expect(said).toMatch(new RegExp(`gateway\\.yaml:\\d+:\\d+.*server\\.listen\\.tls\\.${part}`));
  expect(said).toContain(reason);
});
