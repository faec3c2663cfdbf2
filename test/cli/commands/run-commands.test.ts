import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startWebhookReceiver } from '../../webhooks/webhook-receiver.ts';
import type { ReceivedWebhook, WebhookReceiver } from '../../webhooks/webhook-receiver.ts';
import { runCli } from '../run-cli.ts';
import type { CliRun } from '../run-cli.ts';

const INPUT = '{"messages":[{"role":"user","content":"hi"}]}';

describe('the commands of runs', () => {
  let receiver: WebhookReceiver;
  let gateway: TestGateway;

  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    gateway = await startGateway({
      server: { outbound: { allow: [receiver.host] } },
      providers: [
        { name: 'mock', type: 'mock' },
        {
          name: 'slow',
          type: 'mock',
          mock: { rules: [{ reply: { delay_ms: 1_500, text: 'at last' } }] },
        },
      ],
      models: [
        { name: 'v/chat', routes: [{ provider: 'mock' }] },
        { name: 'v/slow', routes: [{ provider: 'slow' }] },
        { name: 'v/gone', routes: [{ provider: 'mock', enabled: false }] },
      ],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await receiver.close();
  });

  const run = (argv: string[], stdin?: string): Promise<CliRun> =>
    runCli(argv, {
      env: { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.clientKey },
      cwd: gateway.directory,
      ...(stdin === undefined ? {} : { stdin }),
    });

  it('print what the run made, whereever its input comes from', async () => {
    await writeFile(join(gateway.directory, 'input.json'), INPUT);
    const ways: [string, string?][] = [[INPUT], ['@input.json'], ['-', INPUT]];
    for (const [input, stdin] of ways) {
      const { code, stdout, stderr } = await run(['run', 'v/chat', '--input', input], stdin);
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion' });
    }
    const json = (await run(['run', 'v/chat', '-i', INPUT, '-o', 'json'])).json();
    expect(json.data).toMatchObject({ object: 'run', status: 'succeeded' });
  });

  it('return at once, or wait for the end', async () => {
    const left = await run(['run', 'v/slow', '-i', INPUT, '--async', '-o', 'json']);
    expect(left.code).toBe(0);
    expect(['queued', 'running']).toContain(left.json().data.status);
    const waited = await run(['run', 'v/slow', '-i', INPUT, '--wait', '--timeout', '40s']);
    expect(waited.code, waited.stderr).toBe(0);
    expect(waited.stdout).toContain('at last');
    const late = await run([
      'run',
      'v/slow',
      '-i',
      INPUT,
      '--wait',
      '--timeout',
      '1s',
      '-o',
      'json',
    ]);
    expect(late.code).toBe(8);
  }, 60_000);

  it('tell failures by their exit codes', async () => {
    const gone = await run(['run', 'v/gone', '-i', INPUT]);
    expect(gone.code).toBe(7);
    expect(gone.stderr).toContain('failed');
    expect((await run(['run', 'v/chat'])).code).toBe(64);
    expect((await run(['run', 'v/chat', '-i', '{'])).code).toBe(64);
    expect((await run(['run', 'v/chat', '-i', '@absent.json'])).code).toBe(64);
    expect((await run(['run', 'v/chat', '-i', INPUT, '--async', '--wait'])).code).toBe(64);
    expect((await run(['run', 'v/none', '-i', INPUT])).code).toBe(1);
    expect((await run(['tasks', 'get', 'run_none'])).code).toBe(1);
  });

  it('show a task, rotate the secret, list and repeat webhooks', async () => {
    const rotated = await run(['webhooks', 'secret', 'rotate']);
    const secret = rotated.stdout.trim();
    expect(secret).toMatch(/^whsec_/);
    const argv = ['run', 'v/chat', '-i', INPUT, '--webhook-url', `${receiver.url}/cli`];
    const { id } = (await run([...argv, '-o', 'json'])).json().data;
    const [message] = (await receiver.waitFor('/cli')) as [ReceivedWebhook];
    expect(new Webhook(secret).verify(message.text, message.headers)).toMatchObject({
      data: { id },
    });
    const task = await run(['tasks', 'get', id, '-o', 'json']);
    expect(task.json().data).toMatchObject({ id, type: 'run', settlement: 'settled' });
    await eventually(async () => (await run(['webhooks', 'list'])).stdout.includes('delivered'));
    const [delivery] = (await run(['webhooks', 'list', '-o', 'json'])).json().data;
    const again = await run(['webhooks', 'redeliver', delivery.id]);
    expect(again.code, again.stderr).toBe(0);
    await receiver.waitFor('/cli', 2);
    expect((await run(['webhooks', 'redeliver', 'msg_none'])).code).toBe(1);
  }, 60_000);
});
