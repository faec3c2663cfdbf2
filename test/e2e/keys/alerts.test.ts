import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runBinary } from '../../support/binary.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

interface Received {
  id: string;
  signature: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape
  body: any;
}

/** A receiver of webhooks on a port of its own. */
async function startReceiver(): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { 'webhook-id': id, 'webhook-signature': signature } = request.headers;
      received.push({ id: String(id), signature: String(signature), body: JSON.parse(text) });
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/alerts`, received };
}

const CONFIG = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/dear', routes: [{ provider: 'mock', pricing: { per_call: '0.15' } }] }],
  budgets: [
    { name: 'warned', amount: '0.20', per: 'lifetime', on_exceed: 'warn' },
    { name: 'held', amount: '0.40', per: 'lifetime' },
  ],
};

async function start(url: string, directory: string): Promise<TestGateway> {
  const server = { alerts: { webhooks: [url] }, outbound: { allow: ['127.0.0.1'] } };
  const gateway = await startGateway({ ...CONFIG, server }, { binary: true, directory });
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

describe('alerts', () => {
  it('tell of each mark of a budget once, signed, with two processes and a kill between', async () => {
    const { url, received } = await startReceiver();
    const directory = await directoryOfTest();
    const first = await start(url, directory);
    const second = await start(url, directory);
    const key = first.clientKey;
    // By id: what a killed process had sent, and not yet noted as sent, comes once more under its id.
    const told = (): string[] =>
      [...new Map(received.map(({ id, body }) => [id, body.data])).values()]
        .map(({ name, percent }) => `${name} ${percent}`)
        .sort();

    for (const gateway of [first, second])
      expect((await gateway.chat('acme/dear', { key })).status).toBe(200);
    // 0.30 of 0.20 and of 0.40.
    const marks = ['held 50', 'warned 100', 'warned 50', 'warned 80'];
    await eventually(() => told().length >= marks.length);
    expect(told()).toEqual(marks);

    first.child?.kill('SIGKILL');
    expect((await second.chat('acme/dear', { key })).status).toBe(402);
    await eventually(() => told().length > marks.length);
    expect(told()).toEqual(['held 100', ...marks]);
    expect(new Set(received.map(({ id }) => id)).size).toBe(5);
    expect(received.every(({ signature }) => signature.startsWith('v1,'))).toBe(true);
    expect(received.every(({ body }) => body.type === 'alert.budget')).toBe(true);
  });

  it('are refused by mail where the settings cannot be right, with the place and what to do', async () => {
    const directory = await directoryOfTest();
    const validate = async (mail: string): Promise<string> => {
      const file = `version: 1\nserver:\n  alerts:\n    mails:\n      ops: ${mail}\n`;
      await writeFile(join(directory, 'gateway.yaml'), file);
      const { code, stdout, stderr } = await runBinary(['validate'], { cwd: directory });
      return code === 0 ? 'valid' : stdout + stderr;
    };
    const mail = (smtp: string, to = 'ops@example.com') =>
      validate(`{ to: ${to}, from: gateway@example.com, smtp: ${smtp} }`);
    const auth = 'user: gateway, password: "${secret:env:SMTP_PASSWORD}"';
    expect(await mail(`{ host: smtp.example.com, ${auth} }`)).toBe('valid');
    expect(await mail('{ host: smtp.example.com, tls: off }', '[a@x.test, b@x.test]')).toBe(
      'valid',
    );
    const literal = await mail('{ host: smtp.example.com, user: gateway, password: hush-hush }');
    expect(literal).toContain('gateway.yaml:5:');
    expect(literal).toContain('server.alerts.mails.ops.smtp.password');
    expect(literal).toContain('${secret:env:');
    expect(literal).not.toContain('hush-hush');
    expect(await mail('{ host: smtp.example.com, user: gateway }')).toContain(
      'expected user and password together, or neither',
    );
    expect(await mail('{ hots: smtp.example.com }')).toContain('host');
    expect(await mail('{ host: smtp.example.com }', 'nobody')).toContain('such as ops@example.com');
    expect(await mail('{ host: smtp.example.com, tls: ssl }')).toContain('implicit');
  });
});
