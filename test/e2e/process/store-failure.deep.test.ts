import { describe, expect, it, onTestFinished } from 'vitest';
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
const TURN = inTurn('stores that are away', BACKENDS);

const MODEL = 'acme/echo';
const MASTER = 'a-master-key-of-32-characters-00';

describe.each(TURN)('a gateway whose $driver is away', ({ driver, path }) => {
  async function open(): Promise<{ gateway: TestGateway; line: StoreLine }> {
    const { url, options } = await shareDatabase(driver);
    const line = await startStoreLine(url);
    const gateway = await startGateway(
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
    onTestFinished(async () => {
      line.mend();
      await gateway.stop();
      await line.close();
    });
    return { gateway, line };
  }

  const ready = async ({ call }: TestGateway): Promise<Answer> =>
    call('GET', '/readyz', { key: '' });
  const isReady = (gateway: TestGateway) => async () => (await ready(gateway)).status === 200;
  const lines = (gateway: TestGateway, text: string): number =>
    gateway.log().split(text).length - 1;

  it.skipIf(path === undefined)(
    verifies(
      'ops.health',
      'chat.status.500-persistence',
      'says so in the shape of each protocol, and goes on when it is back',
    ),
    async () => {
      const { gateway, line } = await open();
      const { call, admin } = gateway;
      await eventually(isReady(gateway));
      line.cut();
      const red = await eventually(async () => {
        const answer = await ready(gateway);
        return answer.status === 503 && answer;
      });
      expect(red.body).toMatchObject({ status: 'unavailable', store: 'failing', draining: false });
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
      // From then on keys are looked up anew, since they may have been revoked.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await expectHonesty();

      line.mend();
      await eventually(isReady(gateway), 20_000);
      await eventually(async () => (await gateway.chat(MODEL)).status === 200, 20_000);
      const made = await call('POST', '/v1/agents', { body: { name: 'b', model: MODEL } });
      expect(made.status).toBe(201);
    },
  );

  it.skipIf(path === undefined)('says it once in the log, and once that it is well', async () => {
    const { gateway, line } = await open();
    await eventually(isReady(gateway));
    line.cut();
    await eventually(async () => (await ready(gateway)).status === 503);
    // As long as several looks of everything that looks now and then.
    for (let calls = 0; calls < 30; calls++) {
      await gateway.chat(MODEL);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const during = gateway.log();
    for (const what of ['read', 'written'])
      expect(lines(gateway, `the store cannot be ${what}`), during).toBe(1);
    const told = during.split('\n').filter((text) => / (warn|error) /.test(text));
    expect(told, told.join('\n')).toHaveLength(2);
    line.mend();
    await eventually(isReady(gateway), 20_000);
    await eventually(
      () => ['read', 'written'].every((what) => lines(gateway, `can be ${what} again`) === 1),
      20_000,
    );
  });

  it.skipIf(path === undefined)(
    verifies('ops.health', 'is not ready, before calls give up, while nothing comes back from it'),
    async () => {
      const { gateway, line } = await open();
      await eventually(isReady(gateway));
      hurryTimers(4);
      line.stall();
      const call = gateway.chat(MODEL);
      const first = await Promise.race([ready(gateway), call]);
      expect(first).toMatchObject({ status: 503, body: { store: 'failing' } });
      expect((await gateway.call('GET', '/healthz', { key: '' })).status).toBe(200);
      await call;
      // Connections that fell silent would keep the gateway from closing its pool.
      line.cut();
      await eventually(async () => (await ready(gateway)).status === 503);
      line.mend();
      await eventually(isReady(gateway), 60_000);
    },
  );
});
