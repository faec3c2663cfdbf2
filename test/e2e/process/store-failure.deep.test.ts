import { beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { findProgram } from '../../store/support/database-server.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { hurryTimers } from '../../support/time/hurry-timers.ts';
import { shareDatabase } from '../../support/servers/share-database.ts';
import { startStoreLine } from '../../support/stage/store-line.ts';
import type { StoreLine } from '../../support/stage/store-line.ts';

const BACKENDS = [
  { driver: 'redis', program: 'redis-server' },
  { driver: 'postgres', program: 'postgres' },
].map((backend) => ({ ...backend, path: findProgram(backend.program) }));

const MODEL = 'acme/echo';
const MASTER = 'a-master-key-of-32-characters-00';

describe.each(inTurn('stores that are away', BACKENDS))(
  'a gateway whose $driver is away',
  ({ driver, path }) => {
    let gateway: TestGateway;
    let line: StoreLine;

    beforeAll(async () => {
      if (path === undefined) return undefined;
      const { url, options } = await shareDatabase(driver);
      line = await startStoreLine(url);
      gateway = await startGateway(
        {
          server: {
            store: { driver, options: { ...options, url: line.url } },
            secrets: { master_key: '${secret:env:MASTER}' },
          },
          providers: [{ name: 'mock', type: 'mock' }],
          models: [{ name: MODEL, routes: [{ provider: 'mock' }] }],
        },
        { env: { MASTER } },
      );
      return async () => {
        line.mend();
        await gateway.stop();
        await line.close();
      };
    });

    const ready = async (): Promise<Answer> => gateway.call('GET', '/readyz', { key: '' });
    const isReady = async () => (await ready()).status === 200;
    const lines = (text: string): number => gateway.log().split(text).length - 1;

    it.skipIf(path === undefined)(
      verifies(
        'ops.health',
        'chat.status.500-persistence',
        'says so in the shape of each protocol and once in its log, and goes on when it is back',
      ),
      async () => {
        const { call, admin } = gateway;
        await eventually(isReady);
        line.cut();
        const red = await eventually(async () => {
          const answer = await ready();
          return answer.status === 503 && answer;
        });
        const failing = { status: 'unavailable', store: 'failing', draining: false };
        expect(red.body).toMatchObject(failing);
        expect((await call('GET', '/healthz', { key: '' })).status).toBe(200);

        const expectHonesty = async (): Promise<void> => {
          const chat = await gateway.chat(MODEL);
          expect([chat.status, chat.body.error.code]).toEqual([500, 'persistence_failed']);
          const messages = await call('POST', '/v1/messages', {
            body: { model: MODEL, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
          });
          expect([messages.status, messages.body.type, messages.body.error.type]).toEqual([
            500,
            'error',
            'api_error',
          ]);
          for (const answer of [
            await call('GET', '/v1/sessions'),
            await call('POST', '/v1/agents', { body: { name: 'a', model: MODEL } }),
            await admin('GET', '/admin/v1/keys'),
          ]) {
            expect(answer.status).toBe(503);
            expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
            expect(answer.body).toMatchObject({ type: 'error', error: { type: 'unavailable' } });
          }
        };
        await expectHonesty();
        // As long as several looks of everything that looks now and then.
        for (let calls = 0; calls < 30; calls++) {
          await gateway.chat(MODEL);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        // Meanwhile keys have come to be looked up anew, since they may have been revoked.
        await expectHonesty();
        const during = gateway.log();
        for (const what of ['read', 'written'])
          expect(lines(`the store cannot be ${what}`), during).toBe(1);
        const told = during.split('\n').filter((text) => / (warn|error) /.test(text));
        expect(told, told.join('\n')).toHaveLength(2);

        line.mend();
        await eventually(isReady, 20_000);
        await eventually(async () => (await gateway.chat(MODEL)).status === 200, 20_000);
        const made = await call('POST', '/v1/agents', { body: { name: 'b', model: MODEL } });
        expect(made.status).toBe(201);
        await eventually(
          () => ['read', 'written'].every((what) => lines(`can be ${what} again`) === 1),
          20_000,
        );
      },
    );

    it.skipIf(path === undefined)(
      verifies(
        'ops.health',
        'is not ready, before calls give up, while nothing comes back from it',
      ),
      async () => {
        await eventually(isReady);
        hurryTimers(4);
        line.stall();
        const call = gateway.chat(MODEL);
        const first = await Promise.race([ready(), call]);
        expect(first).toMatchObject({ status: 503, body: { store: 'failing' } });
        expect((await gateway.call('GET', '/healthz', { key: '' })).status).toBe(200);
        await call;
        // Connections that fell silent would keep the gateway from closing its pool.
        line.cut();
        await eventually(async () => (await ready()).status === 503);
        line.mend();
        await eventually(isReady, 60_000);
      },
    );
  },
);
