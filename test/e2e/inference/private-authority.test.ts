import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { createAuthority } from '../../support/certificates.ts';
import { CHAT_PATH, chatBody } from '../../support/chat.ts';
import { startGateway } from '../../support/gateway.ts';

const authority = createAuthority('Inside');
const issued = authority.issue('models.corp.example');
const closers: (() => unknown)[] = [];
let requests = 0;

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => authority.dispose());

async function startProvider(): Promise<string> {
  const message = { role: 'assistant', content: 'from inside' };
  const answer = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  requests = 0;
  const server = createServer(issued, (_request, response) => {
    requests += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('not listening');
  return `https://127.0.0.1:${address.port}/v1`;
}

const provider = (base_url: string, tls: object | null): object => ({
  name: 'inside',
  type: 'custom',
  base_url,
  auth: { type: 'none' },
  tls,
});

async function ask(tls: object | null): Promise<{ status: number; body: unknown }> {
  const gateway = await startGateway({
    providers: [provider(await startProvider(), tls)],
    models: [{ name: 'm/inside', routes: [{ provider: 'inside', upstream_model: 'm' }] }],
  });
  closers.push(() => gateway.stop());
  return gateway.call('POST', CHAT_PATH, { body: chatBody('m/inside') });
}

it('a provider with a private authority and another name answers calls', async () => {
  const answer = await ask({ ca: authority.ca, server_name: 'models.corp.example' });
  expect(answer.status).toBe(200);
  expect(JSON.stringify(answer.body)).toContain('from inside');
});

it('a certificate that does not match is refused before anything is sent', async () => {
  const answer = await ask({ ca: authority.ca, server_name: 'other.corp.example' });
  expect(answer.status).toBeGreaterThanOrEqual(500);
  expect(requests).toBe(0);
});

it('doctor reaches a provider as calls do, and says which certificate is refused and why', async () => {
  const base = await startProvider();
  const gateway = await startGateway({});
  closers.push(() => gateway.stop());
  const cwd = gateway.directory;
  const check = async (tls: object | null): Promise<object | undefined> => {
    const file = JSON.stringify({ version: 1, providers: [provider(base, tls)] });
    await writeFile(join(cwd, 'gateway.yaml'), file);
    const run = await runCli(['doctor', '--json'], { cwd, env: { HOME: cwd } });
    const findings: { name: string }[] = run.json().data.findings;
    return findings.find(({ name }) => name === 'provider inside');
  };
  const tls = { ca: authority.ca, server_name: 'models.corp.example' };
  expect(await check(tls)).toMatchObject({ state: 'ok' });
  expect(await check({ ...tls, server_name: 'other.corp.example' })).toMatchObject({
    state: 'bad',
    message: expect.stringContaining(
      'ERR_TLS_CERT_ALTNAME_INVALID, certificate of models.corp.example by Inside',
    ),
    hint: expect.stringContaining('tls.server_name'),
  });
  expect(await check(null)).toMatchObject({
    state: 'bad',
    message: expect.stringContaining('UNABLE_TO_'),
  });
});
