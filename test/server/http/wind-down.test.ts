import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { H3 } from 'h3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import { listen } from '../../../src/server/http/listen.ts';
import type { Listener } from '../../../src/server/http/listen.ts';
import { verifies } from '../../requirements.ts';
import { BODY_VALUES, RESOURCE_VALUES } from '../../support/value-bounds.ts';

const LIMITS = {
  rpm: null,
  bodyBytes: 1024,
  bodyValues: BODY_VALUES,
  resourceValues: RESOURCE_VALUES,
  headerBytes: 16_384,
  urlBytes: 8192,
  requestTimeoutMs: 30_000,
  interactionWaitMs: 60_000,
  runRetentionMs: 1,
  outputTokensBound: 1,
  maxConnections: 100,
};

function serve(app: H3): Promise<Listener> {
  const ids = createIdSource(systemClock);
  return listen(app, { host: '127.0.0.1', port: 0, limits: LIMITS, drainIdleMs: 100, ids });
}

function keptAgent(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return agent;
}

function ask(url: string, agent: Agent): Promise<{ text: string; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const call = request(url, { agent }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      answer.on('end', () => resolve({ text, headers: answer.headers }));
      answer.on('error', reject);
    });
    call.on('error', reject).end();
  });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn();
}

/** The turns of the event loop in which a drain accepts what waits, and one more. */
async function untilRetired(): Promise<void> {
  for (let turns = 0; turns < 4; turns++) await turn();
}

/** An answer that waits for the test. */
function heldAnswer(): { app: H3; asked: Promise<void>; release: () => void } {
  let release = (): void => undefined;
  let onAsked = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const asked = new Promise<void>((resolve) => (onAsked = resolve));
  const app = new H3()
    .get('/', () => 'quick')
    .get('/held', async () => (onAsked(), await held, 'held'));
  return { app, asked, release };
}

describe('a drain', () => {
  it(
    verifies('ops.shutdown.drain', 'tells of the answer under way that its connection ends'),
    async () => {
      const { app, asked, release } = heldAnswer();
      const { url, drain } = await serve(app);
      const answer = ask(`${url}/held`, keptAgent());
      await asked;
      const drained = drain();
      await untilRetired();
      release();
      const { text, headers } = await answer;
      expect(text).toBe('held');
      expect(headers.connection).toBe('close');
      await drained;
    },
  );

  it(
    verifies('ops.shutdown.drain', 'still answers who was about to use a kept connection, once'),
    async () => {
      const { url, drain } = await serve(new H3().get('/', () => 'quick'));
      const agent = keptAgent();
      expect((await ask(url, agent)).headers.connection).toBe('keep-alive');
      const drained = drain();
      await untilRetired();
      const last = await ask(url, agent);
      expect(last.text).toBe('quick');
      expect(last.headers.connection).toBe('close');
      await drained;
      await expect(ask(url, agent)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    },
  );

  it(
    verifies('ops.shutdown.drain', 'answers every connection that waits to be accepted'),
    async () => {
      const { url, drain } = await serve(new H3().get('/', () => 'quick'));
      const port = Number(new URL(url).port);
      // All are connected before the event loop turns.
      const answers = Array.from({ length: 40 }, async () => {
        const socket = connect(port, '127.0.0.1');
        let said = '';
        socket.setEncoding('utf8').on('data', (piece: string) => (said += piece));
        socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
        await once(socket, 'close');
        return said;
      });
      await drain();
      for (const said of await Promise.all(answers)) expect(said).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  it('lets a request end whose head had begun to arrive', async () => {
    const { url, drain } = await serve(new H3().get('/', () => 'quick'));
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let said = '';
    socket.setEncoding('utf8').on('data', (piece: string) => (said += piece));
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nhost: ');
    // Behind it on the same loop, so the beginning has arrived.
    await ask(url, keptAgent());
    const drained = drain();
    // Longer than connections that nobody uses are kept.
    await new Promise((resolve) => setTimeout(resolve, 300));
    socket.write('a\r\n\r\n');
    await once(socket, 'close');
    await drained;
    expect(said).toMatch(/^HTTP\/1\.1 200 [^]*connection: close[^]*quick/i);
  });

  it(
    verifies('ops.shutdown.drain', 'loses no request of clients that go on all the time'),
    async () => {
      const app = new H3().get('/', async () => (await turn(), 'quick'));
      for (let round = 0; round < 10; round++) {
        const { url, drain } = await serve(app);
        const seen = { answered: 0 };
        const lost: unknown[] = [];
        const client = async (): Promise<void> => {
          const agent = keptAgent();
          for (;;) {
            try {
              expect((await ask(url, agent)).text).toBe('quick');
              seen.answered++;
            } catch (error) {
              // Nobody listens any more: this request was never sent.
              if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') lost.push(error);
              return;
            }
          }
        };
        const clients = Array.from({ length: 8 }, client);
        const enough = 100 + 13 * round;
        await until(() => seen.answered >= enough);
        await drain();
        await Promise.all(clients);
        expect(lost).toEqual([]);
      }
    },
  );
});
