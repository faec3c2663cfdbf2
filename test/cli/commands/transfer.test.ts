import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { NAMESPACE_LABEL } from '../../../src/config/actual/ownership.ts';
import { startFakeServer } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { createFakeAdmin } from '../fake-admin.ts';
import { runCli } from '../run-cli.ts';

const account = { id: 'key_1', name: 'me', organization: { id: 'org_1', name: 'default' } };

/** Three models of a namespace, of which a signal comes with the write of the second. */
async function transfer(...words: string[]) {
  const { handler, resources } = createFakeAdmin();
  for (const name of ['a', 'b', 'c'])
    resources['models']?.push({
      id: `model_${name}`,
      type: 'model',
      name,
      version: 1,
      labels: { [NAMESPACE_LABEL]: 'old' },
    });
  const signals = new EventEmitter();
  let writes = 0;
  const server = await startFakeServer((call, response) => {
    if (call.path === '/v1/account/key') return { body: { ...account, scopes: ['admin'] } };
    if (call.method === 'PATCH' && ++writes === 2) signals.emit('SIGTERM');
    return handler(call, response);
  });
  const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test' };
  const argv = ['transfer', '--all', '--from', 'old', '--to', 'new', '--yes', ...words];
  const run = await runCli(argv, { env, signals });
  await server.close();
  return run;
}

it(verifies('cli.transfer', 'a transfer that is stopped says what is moved'), async () => {
  const text = await transfer();
  expect(text.code).toBe(143);
  expect(text.stdout).toBe('model a: old → new\nmodel b: old → new\n');
  expect(text.stderr).toContain('2 of 3 objects are moved: it was stopped');
  const json = (await transfer('-o', 'json')).json();
  expect(json.data).toMatchObject({ done: false, objects: [{ identity: 'a' }, { identity: 'b' }] });
  expect(json.error).toMatchObject({ code: 'partly_transferred' });
});
