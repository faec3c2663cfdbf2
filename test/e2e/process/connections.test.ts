import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { metricsText } from '../../../src/server/process/metrics.ts';
import { verifies } from '../../requirements.ts';
import { CHAT_PATH, chatBody, chunk, customProvider, orderedModel } from '../../support/chat.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { openRaw } from '../../support/raw-client.ts';
import type { RawStream } from '../../support/raw-client.ts';
import { beginEvents, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

interface SlowProvider extends Upstream {
  /** Streams that have begun and not ended, in the order in which they came. */
  readonly open: ServerResponse[];
  end(stream: ServerResponse | undefined): void;
}

/** A provider whose streams begin at once and end when the test says so. */
async function startSlow(): Promise<SlowProvider> {
  const open: ServerResponse[] = [];
  const upstream = await startUpstream((response) => {
    beginEvents(response);
    response.write(chunk({ content: 'hello' }));
    open.push(response);
  });
  return {
    ...upstream,
    open,
    end(stream) {
      open.splice(open.indexOf(stream as ServerResponse), 1);
      stream?.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
    },
  };
}

async function setUp(connections: number, more: object = {}) {
  const clock = createFakeClock();
  const [slow, other] = [await startSlow(), await startSlow()];
  const gateway = await startGateway(
    {
      server: { metrics: { listen: { port: 0 } } },
      providers: [
        customProvider('slow', slow.url, { connections, ...more }),
        customProvider('other', other.url),
      ],
      models: [orderedModel('m/slow', ['slow']), orderedModel('m/both', ['slow', 'other'])],
    },
    { clock },
  );
  onTestFinished(async () => void (await gateway.stop()));
  const streams: Promise<RawStream>[] = [];
  /** Asks for streams; the answers begin when the provider's do. */
  const ask = (count: number, { key = gateway.clientKey, model = 'm/slow' } = {}) => {
    const body = chatBody(model, { stream: true });
    const asked = Array.from({ length: count }, () =>
      openRaw(gateway.url + CHAT_PATH, { key, body }),
    );
    streams.push(...asked);
    return asked;
  };
  onTestFinished(async () => {
    // What still waits is sent now, and fails.
    await Promise.all([slow.close(), other.close()]);
    for (const stream of await Promise.allSettled(streams))
      if (stream.status === 'fulfilled') stream.value.destroy();
  });
  return { clock, slow, other, gateway, ask };
}

const WAITING = 'calls wait for a connection';

/** What the gauge of this name shows for the slow provider. */
async function gauge(name: 'used' | 'waiting'): Promise<number> {
  const { text } = await metricsText();
  const line = new RegExp(`^gateway_connections_${name}\\{provider="slow",api=""\\} (\\d+)$`, 'm');
  return Number(line.exec(text)?.[1]);
}

const waits = (count: number) => eventually(async () => (await gauge('waiting')) === count);

async function newKey(gateway: TestGateway, name: string): Promise<string> {
  const made = await gateway.admin('POST', '/admin/v1/keys', { name });
  return String(made.body.value ?? made.body.key);
}

/** The attempts of a finished call, once its record is there. */
function attemptsOf(gateway: TestGateway, id: unknown, clock: FakeClock): Promise<object[]> {
  return eventually(async () => {
    // Records that nobody waits for are written a little later.
    clock.advance(10);
    const { body } = await gateway.admin('GET', `/admin/v1/requests/${String(id)}`);
    return body.attempts?.length > 0 && body.attempts;
  });
}

describe('connections: 2', () => {
  it(
    verifies(
      'upstream.connections.setting',
      'let two calls through; the third waits and is served when one ends',
    ),
    async () => {
      const { slow, gateway, ask } = await setUp(2);
      await Promise.all(ask(2));
      const [third] = ask(1);
      await eventually(() => gateway.log().includes(WAITING));
      expect(gateway.log()).toMatch(/calls wait for a connection provider=slow connections=2/);
      expect(slow.seen).toHaveLength(2);

      slow.end(slow.open[0]);
      expect((await third)?.status).toBe(200);
      expect(slow.seen).toHaveLength(3);
      expect(slow.seen.filter(({ aborted }) => aborted)).toEqual([]);
    },
  );
});

describe('calls that wait', () => {
  it(
    verifies(
      'upstream.connections.waiting-visible',
      'are counted, and one line names the provider and the bound',
    ),
    async () => {
      const { slow, gateway, ask } = await setUp(2);
      await Promise.all(ask(2));
      const asked = ask(3);
      await waits(3);
      expect(await gauge('used')).toBe(2);
      expect(gateway.log().split(WAITING)).toHaveLength(2);
      expect(gateway.log()).toMatch(/calls wait for a connection provider=slow connections=2/);
      for (let index = 0; index < 3; index++) {
        slow.end(slow.open[0]);
        await asked[index];
        await waits(2 - index);
      }
    },
  );

  it(
    verifies(
      'upstream.connections.fair-share',
      'get what another key leaves: the last eighth, and then each place that it gives back',
    ),
    async () => {
      const { slow, gateway, ask } = await setUp(16);
      const key = await newKey(gateway, 'second');
      void ask(40);
      await waits(26);
      expect(slow.seen).toHaveLength(14);
      await Promise.all(ask(2, { key }));
      expect(slow.seen).toHaveLength(16);
      const [third, fourth] = ask(2, { key });
      await waits(28);

      // One of the first key ends: those of the second wait shorter, but its key holds less.
      slow.end(slow.open[0]);
      await third;
      slow.end(slow.open[0]);
      await fourth;
      expect(await gauge('waiting')).toBe(26);
      expect(slow.seen).toHaveLength(18);
      expect(slow.seen.filter(({ aborted }) => aborted)).toEqual([]);
    },
  );
});

describe('a call that gives up while it waits', () => {
  it(
    verifies(
      'upstream.connections.reason',
      'says so in its attempt, and its provider is as well as before',
    ),
    async () => {
      const { clock, slow, other, gateway, ask } = await setUp(1, {
        timeouts: { first_content: '3s' },
      });
      await Promise.all(ask(1));
      // More than the faults in a row that would let the provider rest.
      const asked = ask(7, { model: 'm/both' });
      await waits(7);
      clock.advance(3_000);
      for (const stream of await Promise.all(asked)) {
        expect(stream.status).toBe(200);
        stream.destroy();
        expect(await attemptsOf(gateway, stream.headers['x-request-id'], clock)).toMatchObject([
          { provider: 'slow', status: null, outcome: 'waiting_for_connection' },
          { provider: 'other', outcome: 'ok' },
        ]);
      }
      expect(other.seen).toHaveLength(7);

      const [alone] = ask(1);
      await waits(1);
      clock.advance(3_000);
      expect((await alone)?.status).toBe(503);
      const routing = await gateway.admin('GET', '/admin/v1/routing?model=m/slow');
      expect(JSON.stringify(routing.body)).not.toMatch(/cooled|cooldown|probing/);

      slow.end(slow.open[0]);
      const [served] = ask(1, { model: 'm/both' });
      expect((await served)?.status).toBe(200);
      expect(slow.seen).toHaveLength(2);
    },
  );

  it('says so when its client left', async () => {
    const { slow, gateway, ask } = await setUp(1);
    await Promise.all(ask(1));
    const leaving = new AbortController();
    const body = JSON.parse(chatBody('m/slow', { stream: true })) as object;
    const left = gateway.chat('m/slow', { body, signal: leaving.signal }).catch(() => undefined);
    await eventually(() => gateway.log().includes(WAITING));
    leaving.abort();
    await left;
    const line = await eventually(() => /^.*status=499.*$/m.exec(gateway.log())?.[0]);
    expect(line).toContain('slow:waiting_for_connection');
    expect(slow.seen).toHaveLength(1);
  });
});
