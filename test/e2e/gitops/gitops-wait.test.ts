import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { startCountingProxy, type CountingProxy } from '../../support/stage/counting-proxy.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const FILES = {
  version: 1,
  namespace: 'team',
  organizations: [{ name: 'acme' }],
  providers: [{ name: 'echo', type: 'mock' }],
  models: [
    { name: 'team/one', routes: [{ provider: 'echo' }] },
    { name: 'team/off', enabled: false, routes: [{ provider: 'echo' }] },
  ],
  services: [
    { name: 'desk', runtime: { type: 'agent', model: 'team/one' }, protocols: ['rest'] },
    {
      name: 'theirs',
      organization: 'acme',
      runtime: { type: 'agent', model: 'team/one' },
      protocols: ['rest'],
    },
  ],
};

let gateway: TestGateway;
let proxy: CountingProxy;
let cwd: string;
beforeEach(async () => {
  [gateway, cwd] = await Promise.all([startGateway(), emptyDirectory()]);
  proxy = await startCountingProxy(gateway.url);
  await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify(FILES));
});
afterEach(async () => {
  await proxy.close();
  await gateway.stop();
});

const apply = (...flags: string[]) =>
  runCli(['apply', '--yes', '--wait', '-o', 'json', ...flags], {
    cwd,
    env: { GATEWAY_SERVER: proxy.url, GATEWAY_API_KEY: gateway.adminKey },
  });

describe('apply --wait', () => {
  it('ends when models and Services are served; what is off or of others is not waited for', async () => {
    const done = await apply();
    expect([done.code, done.json().error]).toEqual([0, null]);
    const asked = proxy.seen.map(({ method, path }) => `${method} ${path}`);
    expect(asked.filter((one) => one.startsWith('GET /v1/models'))).toHaveLength(1);
    expect(asked.filter((one) => one.startsWith('GET /v1/endpoints/'))).toHaveLength(1);
  });

  it('exits 8 when no answer comes in time, and what was applied is told', async () => {
    const never = new Promise<void>(() => undefined);
    proxy.fate = ({ path }) => (path.startsWith('/v1/models') ? { before: never } : undefined);
    const done = await apply('--timeout', '3s');
    expect([done.code, done.json().error.code]).toEqual([8, 'timeout']);
    expect(done.json().data.applied).toHaveLength(6);
  });
});
