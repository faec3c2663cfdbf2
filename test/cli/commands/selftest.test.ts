import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CHECKS } from '../../../src/cli/selftest/run-checks.ts';
import { REQUIREMENT_IDS, verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { runCli } from '../run-cli.ts';

const CONFIG = {
  providers: [{ name: 'acme', type: 'mock' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'acme', upstream_model: 'echo' }] }],
};
const TIMEOUT_MS = 60_000;
type Outcome = { id: string; state: string; reason?: string };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(CONFIG);
});
afterAll(() => gateway.stop());

function selftest(url: string, key = gateway.clientKey, ...more: string[]) {
  const argv = ['selftest', '--against', url, ...more];
  return runCli(argv, { env: { GATEWAY_API_KEY: key } });
}

/** A gateway that answers like the real one, but for what `spoil` makes of it. */
async function startSpoiled(spoil: (path: string, text: string) => string): Promise<string> {
  const forward = async (request: IncomingMessage, response: ServerResponse) => {
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const body = await buffer(request);
    const answer = await fetch(gateway.url + request.url, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    });
    const own = ['content-length', 'transfer-encoding', 'connection'];
    const kept = [...answer.headers].filter(([name]) => !own.includes(name));
    response.writeHead(answer.status, Object.fromEntries(kept));
    response.end(spoil(request.url ?? '', await answer.text()));
  };
  const server = createServer((request, response) => void forward(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('gateway selftest', () => {
  it(
    verifies('cli.selftest', 'passes every check of a gateway that keeps its promises'),
    async () => {
      const run = await selftest(gateway.url, gateway.clientKey, '-o', 'json');
      const { against, passed, failed, skipped, checks } = run.json().data;
      expect(checks.filter(({ state }: Outcome) => state !== 'pass')).toEqual([]);
      expect({ against, passed, failed, skipped, code: run.code }).toEqual({
        against: gateway.url,
        passed: CHECKS.length,
        failed: 0,
        skipped: 0,
        code: 0,
      });
      expect(CHECKS.length).toBeGreaterThanOrEqual(25);
    },
    TIMEOUT_MS,
  );

  it('checks requirements that exist, each once', () => {
    const ids = CHECKS.map(({ id }) => id);
    expect(ids.filter((id) => !REQUIREMENT_IDS.has(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it(
    verifies('cli.selftest', 'prints pass, fail or skip for each requirement, and exits 1'),
    async () => {
      const url = await startSpoiled((path, text) =>
        path.startsWith('/v1/chat') ? text.replace(/data: \[DONE\]/g, '') : text,
      );
      const run = await selftest(url, gateway.clientKey, '--model', 'acme/echo');
      expect(run.code).toBe(1);
      const lines = run.stdout.split('\n');
      for (const { id } of CHECKS)
        expect(lines.filter((line) => / {2}\S+ {2}/.exec(line)?.[0].trim() === id)).toHaveLength(1);
      expect(run.stdout).toMatch(/^fail {2}chat\.stream\.ends-with-done .*the last line is/m);
      expect(run.stdout).toMatch(/^pass {2}chat\.response\.json /m);
      expect(run.stdout).toContain(`${CHECKS.length - 1} passed, 1 failed, 0 skipped`);
      expect(run.stderr).toContain(`1 of ${CHECKS.length} checks failed`);
      expect(run.stdout + run.stderr).not.toContain(gateway.clientKey);
    },
    TIMEOUT_MS,
  );

  it(
    verifies('cli.selftest', 'skips what the key may not do'),
    async () => {
      const created = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'inference-only',
        scopes: ['inference', 'models'],
      });
      const run = await selftest(gateway.url, created.body.value, '--json');
      const { failed, checks } = run.json().data;
      const stateOf = (id: string) => checks.find((one: Outcome) => one.id === id)?.state;
      expect([run.code, failed]).toEqual([0, 0]);
      expect(stateOf('agents.create.required')).toBe('skip');
      expect(stateOf('chat.request.validation')).toBe('pass');
      expect(stateOf('auth.key.required')).toBe('pass');
    },
    TIMEOUT_MS,
  );

  it('checks nothing with a key that is refused', async () => {
    const run = await selftest(gateway.url, `sk-${'1'.repeat(64)}`, '--json');
    expect([run.code, run.json().error.code]).toEqual([4, 'invalid_api_key']);
  });
});
