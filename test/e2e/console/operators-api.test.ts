import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const CONFIG = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
};
const PLAN = '/admin/v1/configuration/plan';

async function start() {
  const gateway = await startGateway(CONFIG);
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

it('tells operators how store, workers and routes are', async () => {
  const gateway = await start();
  await gateway.chat('acme/echo');
  const { status, body } = await gateway.admin('GET', '/admin/v1/status');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    type: 'status',
    version: expect.stringMatching(/^\d+\./),
    store: { driver: 'memory', scope: 'process', state: 'ok' },
    workers: [{ id: expect.stringMatching(/^worker_/) }],
    providers: [
      {
        name: 'mock',
        routes: expect.arrayContaining([
          expect.objectContaining({ model: 'acme/echo', state: 'available', until: null }),
        ]),
      },
    ],
  });
  expect(await gateway.call('GET', '/admin/v1/status')).toMatchObject({ status: 403 });
});

it('tells what is wrong with files, as validate does, and reads none of its own', async () => {
  const gateway = await start();
  const text =
    'version: 1\nmodels:\n  - nam: acme/new\n    description: "${file:/etc/hostname}"\n    display_name: "${file:x.txt}"\n';
  const { status, body } = await gateway.admin('POST', PLAN, {
    files: [{ name: 'more.yaml', text }],
  });
  expect(status).toBe(200);
  expect(body.plan).toBeNull();
  expect(body.diagnostics).toContainEqual(
    expect.objectContaining({ file: 'more.yaml', line: 3, severity: 'error' }),
  );
  const messages = body.diagnostics.map(({ message }: { message: string }) => message).join('\n');
  expect(messages).toContain('/etc/hostname lies outside of the configuration directory');
  expect(messages).toContain('the file x.txt cannot be read');
  for (const files of [[], [{ name: '../x.yaml', text: '' }], 'x', [{ name: 'x' }]])
    expect(await gateway.admin('POST', PLAN, { files })).toMatchObject({ status: 400 });
});

it('tells what an apply of the files would do, and does nothing', async () => {
  const gateway = await start();
  const text = `version: 1
namespace: more
models: [{ name: acme/new, routes: [{ provider: mock }] }]
keys: [{ name: theirs, value: "\${secret:env:SOME_KEY}" }]
`;
  const { body } = await gateway.admin('POST', PLAN, { files: [{ name: 'more.yaml', text }] });
  expect(body).toMatchObject({
    type: 'configuration_plan',
    plan: { namespace: 'more', mode: 'apply', target: null, summary: { create: 2, total: 2 } },
  });
  const { body: models } = await gateway.admin('GET', '/admin/v1/models');
  expect(models.data.map(({ name }: { name: string }) => name)).toEqual(['acme/echo']);
  expect(await gateway.call('POST', PLAN, { body: { files: [] } })).toMatchObject({ status: 403 });
});

it(
  verifies('secrets.exec', 'runs no command that files or resources of the API name'),
  async () => {
    const gateway = await start();
    const marker = join(await directoryOfTest(), 'ran');
    const secret = `\${secret:exec:touch ${marker}}`;
    const text = `version: 1
server: { secrets: { exec: [all] } }
keys: [{ name: theirs, value: '${secret}' }]
`;
    const planned = await gateway.admin('POST', PLAN, { files: [{ name: 'more.yaml', text }] });
    expect(planned.body).toMatchObject({ diagnostics: [], plan: { summary: { create: 1 } } });
    const provider = { name: 'up', type: 'openai', api_key: secret };
    expect((await gateway.admin('POST', '/admin/v1/providers', provider)).status).toBe(201);
    expect(existsSync(marker)).toBe(false);
  },
);
