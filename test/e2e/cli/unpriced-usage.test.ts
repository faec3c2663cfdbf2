import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { adminEnv } from '../../support/binary.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

let mock: MockServer;
let gateway: TestGateway;
let cwd: string;

beforeAll(async () => {
  mock = await startMockServer();
  cwd = await newDirectory();
  const base_url = `${mock.url}/v1`;
  const auth = { type: 'none' };
  gateway = await startGateway({
    providers: [{ name: 'own', type: 'custom', auth, base_url, protocols: { chat: true } }],
    models: [{ name: 'acme/unknown', routes: [{ provider: 'own', upstream_model: 'echo' }] }],
  });
  expect((await gateway.chat('acme/unknown')).status).toBe(200);
  await eventually(async () => {
    const { body } = await gateway.admin('GET', '/admin/v1/requests');
    return body.data[0]?.result === 'ok';
  });
});
afterAll(async () => {
  await gateway.stop();
  await mock.close();
  await rm(cwd, { recursive: true, force: true });
});

const MONTH = new Date().toISOString().slice(0, 7);

/** Every way to see what was used, with whose key. */
const COMMANDS = {
  admin: ['usage', 'usage --by day', 'usage --by key', `usage --month ${MONTH}`, 'logs'],
  client: ['usage --own', 'usage --own --by model --by day', 'executions'],
};

/** Members and columns that tell a cost. */
const COST = /^(cost|cost_usd|COST USD)$/;

function costsOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(costsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    COST.test(name) ? [inner] : costsOf(inner),
  );
}

describe.each(Object.entries(COMMANDS))('with the key of the %s', (whose, commands) => {
  it.each(commands)(
    verifies('usage.unknown-not-zero', '%s tells no zero for what is unknown'),
    async (command) => {
      const env =
        whose === 'admin'
          ? adminEnv(gateway)
          : { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.clientKey };
      const run = async (...more: string[]): Promise<string> => {
        const { code, stdout, stderr } = await runCli([...command.split(' '), ...more], {
          cwd,
          env,
        });
        expect(code, stderr).toBe(0);
        return stdout;
      };
      const text = await run();
      expect(text).toContain('unpriced');
      expect(text).not.toMatch(/\b0\.00\b/);
      const costs = costsOf(JSON.parse(await run('-o', 'json')));
      expect(costs.length).toBeGreaterThan(0);
      expect(new Set(costs)).toEqual(new Set([null]));
      if (!command.startsWith('usage')) return;
      const [head = '', row = ''] = (await run('-o', 'csv')).split(/\r?\n/);
      expect(row.split(',')[head.split(',').indexOf('cost_usd')]).toBe('');
      expect(await run('--chart')).not.toMatch(/\b0\.00\b/);
    },
  );
});
