import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { runCli } from '../../cli/run-cli.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
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

describe('alerts', () => {
  it('tell of each mark of a budget once, signed', async () => {
    const { url, received } = await startReceiver();
    const server = { alerts: { webhooks: [url] }, outbound: { allow: ['127.0.0.1'] } };
    const clock = createFakeClock();
    const gateway = await startGateway({ ...CONFIG, server }, { clock });
    onTestFinished(async () => void (await gateway.stop()));
    const told = (): string[] =>
      received.map(({ body }) => `${body.data.name} ${body.data.percent}`).sort();
    // The gateway looks every five seconds; a call that is on its way has its time.
    const hears = (count: number): Promise<unknown> => {
      clock.advance(5_000);
      return eventually(() => {
        clock.advance(50);
        return received.length >= count;
      });
    };

    for (const status of [200, 200])
      expect(await gateway.chat('acme/dear')).toMatchObject({ status });
    // 0.30 of 0.20 and of 0.40.
    const marks = ['held 50', 'warned 100', 'warned 50', 'warned 80'];
    await hears(marks.length);
    expect(told()).toEqual(marks);

    expect(received.every(({ body }) => body.type === 'alert.budget')).toBe(true);

    expect((await gateway.chat('acme/dear')).status).toBe(402);
    await hears(marks.length + 1);
    expect(received.at(-1)?.body).toMatchObject({
      type: 'alert.refusal',
      data: { name: 'held', spent: '0.30', left: '0.10', needed: '0.15' },
    });
    expect(new Set(received.map(({ id }) => id)).size).toBe(5);
    expect(received.every(({ signature }) => signature.startsWith('v1,'))).toBe(true);
  });

  it(verifies('schedules.outcome', 'report a Schedule whose Session failed, once'), async () => {
    const { url, received } = await startReceiver();
    const server = { alerts: { webhooks: [url] }, outbound: { allow: ['127.0.0.1'] } };
    const gateway = await startGateway({ ...CONFIG, server });
    onTestFinished(async () => void (await gateway.stop()));
    const { body } = await gateway.call('POST', '/v1/deployments', {
      body: {
        name: 'broken',
        runtime: { type: 'agent', model: 'acme/none' },
        initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }],
      },
    });
    const run = (await gateway.call('POST', `/v1/deployments/${body.id}/runs`)).body;
    await eventually(() => received.length > 0);
    expect(received.map(({ body: alert }) => alert)).toMatchObject([
      {
        type: 'alert.schedule',
        data: {
          deployment: body.id,
          name: 'broken',
          run: run.id,
          session: run.session_id,
          error: 'retries_exhausted',
          text: expect.stringContaining('acme/none'),
        },
      },
    ]);
  });

  it('are refused by mail where the settings cannot be right, with the place and what to do', async () => {
    const directory = await directoryOfTest();
    const validate = async (mail: string): Promise<string> => {
      const file = `version: 1\nserver:\n  alerts:\n    mails:\n      ops: ${mail}\n`;
      await writeFile(join(directory, 'gateway.yaml'), file);
      const { code, stdout, stderr } = await runCli(['validate'], { cwd: directory });
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
