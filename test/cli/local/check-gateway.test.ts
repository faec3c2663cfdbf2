import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeContexts } from '../../../src/cli/connection/contexts.ts';
import { writeRuntime } from '../../../src/core/process/runtime-file.ts';
import { createAuthority } from '../../support/certificates.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

/** Something that says that it is well, on a free port. */
async function startStranger(
  onRequest: (request: IncomingMessage) => void = () => undefined,
): Promise<number> {
  const server = createServer((request, response) => {
    onRequest(request);
    response.end('{"status":"ok"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

interface Told {
  state: string;
  message: string;
}

async function findingsOf(
  cwd: string,
  port: number,
  more: Record<string, string> = {},
): Promise<(Told & { name: string; hint?: string })[]> {
  const env = { GATEWAY_PORT: String(port), HOME: cwd, ...more };
  const run = await runCli(['doctor', '--offline', '--json'], { cwd, env });
  return run.json().data.findings;
}

async function doctor(cwd: string, port: number): Promise<Record<string, Told>> {
  const findings = await findingsOf(cwd, port);
  return Object.fromEntries(findings.map((finding) => [finding.name, finding]));
}

/** A gateway whose folder has the file of this very process. */
async function startOwn(config: object = {}): Promise<TestGateway> {
  const gateway = await startGateway(config);
  onTestFinished(async () => void (await gateway.stop()));
  const facts = { url: gateway.url, since: '2026-01-01T00:00:00.000Z', version: '1', watch: false };
  await writeRuntime(join(gateway.directory, '.gateway'), { ...facts, files: [] });
  return gateway;
}

const portOf = (url: string): number => Number(new URL(url).port);

it(
  verifies(
    'cli.doctor.same-gateway',
    'doctor asks the gateway that commands ask, and says who else is on the port',
  ),
  async () => {
    const port = await startStranger();
    const gateway = await startGateway({});
    onTestFinished(async () => void (await gateway.stop()));
    const cwd = gateway.directory;
    const alone = await doctor(cwd, port);
    expect(alone['gateway']).toMatchObject({
      state: 'bad',
      message: expect.stringContaining(`another process answers at http://127.0.0.1:${port}`),
    });
    expect(alone['gateway']?.message).toContain('admin.key');
    const runtime = { url: gateway.url, pid: process.pid };
    await writeFile(join(cwd, '.gateway', 'runtime.json'), JSON.stringify(runtime));
    const running = await doctor(cwd, port);
    expect(running['gateway']).toMatchObject({
      state: 'ok',
      message: expect.stringContaining(`a gateway answers at ${gateway.url} (`),
    });
    expect(running['port']).toMatchObject({
      state: 'bad',
      message: `127.0.0.1:${port} is taken by another program`,
    });
    const own = await doctor(cwd, Number(new URL(gateway.url).port));
    expect(own['gateway']).toMatchObject({ state: 'ok' });
    expect(own['port']).toBeUndefined();
  },
);

describe('the gateway of the folder', () => {
  it(verifies('doctor.own-gateway', 'is known where commands ask a balancer'), async () => {
    const gateway = await startOwn();
    const balancer = createServer((request, response) => {
      const { method, headers, url = '' } = request;
      const forward = send(new URL(url, gateway.url), { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forward);
    });
    balancer.listen(0, '127.0.0.1');
    await once(balancer, 'listening');
    onTestFinished(() => void balancer.close());
    const address = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
    const env = { GATEWAY_SERVER: address, GATEWAY_API_KEY: gateway.adminKey };
    const findings = await findingsOf(gateway.directory, portOf(gateway.url), env);
    const about = findings.filter(({ name }) => name === 'gateway');
    expect(about.map(({ state }) => state)).toEqual(['ok', 'ok']);
    expect(about[0]?.message).toContain(address);
    expect(about[1]?.message).toContain(`the gateway of this folder, process ${process.pid}`);
    expect(findings.filter(({ name }) => name === 'port')).toEqual([]);
    expect(JSON.stringify(findings)).not.toMatch(/\bstop\b/);
  });

  it(
    verifies('doctor.own-gateway', 'is known by a certificate that is not trusted here'),
    async () => {
      const authority = createAuthority('Own');
      onTestFinished(() => authority.dispose());
      const folder = await directoryOfTest();
      const { cert, key } = authority.issue('gateway.test');
      const tls = { cert: join(folder, 'own.crt'), key: join(folder, 'own.key') };
      await writeFile(tls.cert, cert);
      await writeFile(tls.key, key);
      const gateway = await startOwn({ server: { listen: { tls } } });
      const findings = await findingsOf(gateway.directory, portOf(gateway.url));
      const [own] = findings.filter(({ name }) => name === 'gateway');
      expect(own).toMatchObject({
        state: 'warn',
        message: expect.stringContaining(`process ${process.pid} since 2026-01-01`),
        hint: expect.stringContaining('NODE_EXTRA_CA_CERTS=FILE'),
      });
      expect(findings.filter(({ name }) => name === 'port')).toEqual([]);
      expect(JSON.stringify(findings)).not.toMatch(/\bstop\b/);
    },
  );

  it('is told where it does not take the key, or does not answer', async () => {
    const gateway = await startOwn();
    const { directory: cwd, url } = gateway;
    const other = await findingsOf(cwd, portOf(url), { GATEWAY_API_KEY: 'sk-other' });
    expect(other.find(({ name }) => name === 'gateway')).toMatchObject({
      state: 'warn',
      message: expect.stringContaining('does not take the key from GATEWAY_API_KEY'),
    });
    await gateway.stop();
    const silent = await directoryOfTest();
    const facts = { url, since: 'then', version: '1', watch: false, files: [] };
    await writeFile(join(silent, 'gateway.yaml'), 'version: 1\n');
    await writeRuntime(join(silent, '.gateway'), facts);
    const [gone] = (await findingsOf(silent, portOf(url))).filter(({ name }) => name === 'gateway');
    expect(gone).toMatchObject({
      state: 'bad',
      message: expect.stringContaining('does not answer'),
    });
  });
});

// 0.0.0.0 reaches this machine, and is no address that the rule knows.
it.each(['http://0.0.0.0:', 'ftp://127.0.0.1:', 'no address '])(
  verifies('doctor.own-gateway', 'a file that names %jPORT leads no key there'),
  async (place) => {
    const asked: unknown[] = [];
    const url = `${place}${await startStranger(({ headers }) => asked.push(headers))}`;
    const cwd = await directoryOfTest();
    await writeFile(join(cwd, 'gateway.yaml'), 'version: 1\n');
    const facts = { url, since: 'then', version: '1', watch: false, files: [] };
    await writeRuntime(join(cwd, '.gateway'), facts);
    await writeFile(join(cwd, '.gateway', 'admin.key'), 'sk-own', { mode: 0o600 });
    const env = { GATEWAY_PORT: '1', HOME: cwd };
    for (const command of [['doctor', '--offline'], ['status']]) {
      const { stdout } = await runCli(command, { cwd, env });
      expect(stdout).toContain(`${url}, which is no address of this machine: it was not asked`);
    }
    expect(asked).toEqual([]);
  },
);

it('the gateway of the folder gets no key that belongs to another server', async () => {
  const keys: unknown[] = [];
  const port = await startStranger(({ headers }) => keys.push(headers['authorization']));
  const cwd = await directoryOfTest();
  await writeFile(join(cwd, 'gateway.yaml'), 'version: 1\n');
  const facts = { since: 'then', version: '1', watch: false, files: [] };
  await writeRuntime(join(cwd, '.gateway'), { url: `http://127.0.0.1:${port}`, ...facts });
  const env = { HOME: cwd, XDG_CONFIG_HOME: cwd, GATEWAY_PORT: '1' };
  const names = { name: 'far', organization: null, keyName: null };
  const far = { ...names, server: 'http://127.0.0.1:9', apiKey: 'sk-far' };
  await writeContexts(env, { current: 'far', list: [far] });
  const { stdout } = await runCli(['doctor', '--offline'], { cwd, env });
  expect(stdout).toContain('(context far)');
  expect(keys).toEqual([undefined]);
});

it('without a file it looks at the vendors of the environment', async () => {
  const cwd = await directoryOfTest();
  await writeFile(join(cwd, '.env'), 'OPENAI_API_KEY=canary\n');
  const env = { HOME: cwd, GATEWAY_PORT: '0' };
  const { code, stdout } = await runCli(['doctor', '--offline'], { cwd, env });
  expect(stdout).toContain('openai with OPENAI_API_KEY in .env');
  expect(stdout).not.toContain('canary');
  expect(code).toBe(0);
});
