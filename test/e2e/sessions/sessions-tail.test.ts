import { EventEmitter } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';

const CONFIG = {
  providers: [{ name: 'acme', type: 'mock' }],
  models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
};

/** A way to the gateway that can be cut; streams are, each after so many bytes. */
async function startLine(port: number, cuts: number[] = []) {
  const open = new Set<Socket>();
  let isUp = true;
  const server = createServer((near) => {
    if (!isUp) {
      near.destroy();
      return;
    }
    const far = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => undefined).on('close', () => open.delete(one) && other.destroy());
    }
    let left = Infinity;
    near.on('data', (bytes: Buffer) => {
      if (bytes.includes('/events/stream')) left = cuts.shift() ?? Infinity;
      far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => {
      near.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0) near.destroySoon();
    });
    near.on('end', () => far.end());
    far.on('end', () => near.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    isUp = false;
    for (const socket of open) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, cut, mend: () => void (isUp = true) };
}

it(
  verifies(
    'cli.tail.reconnect',
    'gateway sessions tail shows what happened while its connection was lost, every event once',
  ),
  async () => {
    const { url, call, clientKey, stop } = await startGateway(CONFIG);
    onTestFinished(async () => void (await stop()));
    const line = await startLine(Number(new URL(url).port));
    const agent = await call('POST', '/v1/agents', { body: { name: 'a', model: 'acme/one' } });
    const body = { agent: agent.body.id, environment_id: 'env_1' };
    const made = await call('POST', '/v1/sessions', { body });
    const at = `/v1/sessions/${made.body.id}`;
    const history = async () => (await call('GET', `${at}/events?limit=1000`)).body.data;
    const say = async (text: string) => {
      const content = [{ type: 'text', text }];
      await call('POST', `${at}/events`, { body: { events: [{ type: 'user.message', content }] } });
      return eventually(async () => (await call('GET', at)).body.status === 'idle');
    };

    await say('before');
    let shown = '';
    const signals = new EventEmitter();
    const run = runCli(['sessions', 'tail', made.body.id, '-o', 'json'], {
      env: { GATEWAY_SERVER: line.url, GATEWAY_API_KEY: clientKey },
      signals,
      onStdout: (text) => (shown += text),
    });
    const rests = (count: number) =>
      eventually(() => shown.split('"session.status_idle"').length > count);
    await rests(1);
    await say('while it is followed');
    await rests(2);
    line.cut();
    await say('while nobody hears');
    line.mend();
    await rests(3);
    await say('again');
    await rests(4);
    const all = await history();
    await call('DELETE', at);
    expect((await run).code).toBe(0);
    const lines = shown
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
    const events = lines.filter(({ type }) => type === 'event').map(({ event }) => event);
    expect(events.slice(0, all.length)).toEqual(all);
    expect(events.slice(all.length).map(({ type }) => type)).toEqual(['session.deleted']);
    expect(lines.at(-1)).toEqual({ type: 'end', reason: 'deleted' });
  },
);

it(
  verifies(
    'cli.tail',
    'cli.tail.reconnect',
    'gateway tail shows every event once, wherever its connections are cut',
  ),
  async () => {
    const { url, call, clientKey, stop } = await startGateway(CONFIG);
    onTestFinished(async () => void (await stop()));
    const cuts = [1, 1_300, 300, 2_048, 0, 1_750, 777, 2_600];
    const line = await startLine(Number(new URL(url).port), cuts);
    const agent = await call('POST', '/v1/agents', { body: { name: 'a', model: 'acme/one' } });
    const body = { agent: agent.body.id, environment_id: 'env_1' };
    const made = await call('POST', '/v1/sessions', { body });
    const at = `/v1/sessions/${made.body.id}`;
    let shown = '';
    const run = runCli(['tail', made.body.id, '-o', 'json'], {
      env: { GATEWAY_SERVER: line.url, GATEWAY_API_KEY: clientKey },
      onStdout: (text) => (shown += text),
    });
    let turns = 0;
    while (cuts.length > 0) {
      const content = [{ type: 'text', text: `turn ${++turns}: grüße 👋` }];
      await call('POST', `${at}/events`, { body: { events: [{ type: 'user.message', content }] } });
      await eventually(() => shown.split('"session.status_idle"').length > turns, 30_000);
    }
    const { data } = (await call('GET', `${at}/events?limit=1000&order=asc`)).body;
    await call('DELETE', at);
    expect((await run).code).toBe(0);
    const events = shown
      .trimEnd()
      .split('\n')
      .flatMap((text) => JSON.parse(text).event ?? []);
    expect(events.slice(0, -1)).toEqual(data);
    expect(events.at(-1).type).toBe('session.deleted');
  },
  60_000,
);
