import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

/** Something that says that it is well, on a free port. */
async function startStranger(): Promise<number> {
  const server = createServer((_request, response) => response.end('{"status":"ok"}'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

interface Told {
  state: string;
  message: string;
}

async function doctor(cwd: string, port: number): Promise<Record<string, Told>> {
  const env = { GATEWAY_PORT: String(port), HOME: cwd };
  const run = await runCli(['doctor', '--offline', '--json'], { cwd, env });
  const findings: (Told & { name: string })[] = run.json().data.findings;
  return Object.fromEntries(findings.map((finding) => [finding.name, finding]));
}

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

it('without a file it looks at the vendors of the environment', async () => {
  const cwd = await directoryOfTest();
  await writeFile(join(cwd, '.env'), 'OPENAI_API_KEY=canary\n');
  const env = { HOME: cwd, GATEWAY_PORT: '0' };
  const { code, stdout } = await runCli(['doctor', '--offline'], { cwd, env });
  expect(stdout).toContain('openai with OPENAI_API_KEY in .env');
  expect(stdout).not.toContain('canary');
  expect(code).toBe(0);
});
