import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { chunk } from '../../support/chat.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const SECRET = 'sk-1234567890abcdef1234567890abcdef';
/** Two signals that mean nothing to the gateway make faults of no request. */
const HOOK = `
const fault = () => new Error('the driver broke with ${SECRET}');
process.on('SIGWINCH', () => void Promise.reject(fault()));
process.on('SIGCONT', () => setImmediate(() => { throw fault(); }));
`;
const LONG = { timeout: 180_000 };
const ECHO = {
  server: { log: { format: 'json' }, metrics: { listen: { host: '127.0.0.1', port: 0 } } },
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
};

async function start(config: object): Promise<TestGateway> {
  const directory = await newDirectory();
  const hook = join(directory, 'hook.mjs');
  await writeFile(hook, HOOK);
  const env = { NODE_OPTIONS: `--import ${pathToFileURL(hook).href}` };
  const gateway = await startGateway(config, { binary: true, directory, env });
  onTestFinished(async () => {
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  });
  return gateway;
}

/** Lines of the log that tell of a fault. */
function faultsIn(gateway: TestGateway): Record<string, unknown>[] {
  return gateway
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ origin }) => origin !== undefined);
}

function expectTold(gateway: TestGateway, origin: string): void {
  const [fault, ...others] = faultsIn(gateway).filter((one) => one['origin'] === origin);
  expect(others).toEqual([]);
  expect(fault).toMatchObject({ level: 'error', origin });
  expect(fault?.['reason']).toContain('the driver broke');
  expect(fault?.['stack']).toContain('hook.mjs');
  expect(JSON.stringify(fault)).not.toContain(SECRET);
}

/** A provider whose only stream goes on for as long as the test wants. */
async function startProvider() {
  const streams: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'first' }));
    streams.push(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, streams };
}

describe('a fault that no code foresaw, outside of any request', () => {
  it(
    verifies(
      'ops.unforeseen-error.not-silent',
      'is told and counted when it is a rejection, and nothing ends; when it is an exception, what is under way ends, and then the process, with 1',
    ),
    LONG,
    async () => {
      const provider = await startProvider();
      const up = {
        name: 'up',
        type: 'custom',
        base_url: `${provider.url}/v1`,
        auth: { type: 'none' },
        protocols: { chat: true },
      };
      const slow = { name: 'acme/slow', routes: [{ provider: 'up', upstream_model: 'up' }] };
      const gateway = await start({
        ...ECHO,
        providers: [...ECHO.providers, up],
        models: [...ECHO.models, slow],
      });
      gateway.child!.kill('SIGWINCH');
      await eventually(() => faultsIn(gateway).length > 0);
      expectTold(gateway, 'unhandledRejection');
      expect((await gateway.chat('acme/echo')).status).toBe(200);
      expect((await gateway.call('GET', '/readyz', { key: '' })).status).toBe(200);
      const [, metrics = ''] = /metrics on (\S+)/.exec(gateway.log()) ?? [];
      const text = await (await fetch(new URL('/metrics', metrics))).text();
      expect(text).toContain('gateway_unforeseen_errors_total 1');
      expect(gateway.child!.exitCode).toBeNull();

      const answer = gateway.chat('acme/slow', { body: { stream: true } });
      await eventually(() => provider.streams.length === 1);
      const exit = once(gateway.child!, 'exit');
      gateway.child!.kill('SIGCONT');
      await eventually(() => faultsIn(gateway).length > 1);
      provider.streams[0]!.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
      expect((await answer).body).toContain('[DONE]');
      expect(await exit).toEqual([1, null]);
      expectTold(gateway, 'uncaughtException');
      expect(faultsIn(gateway)).toHaveLength(2);
    },
  );
});
