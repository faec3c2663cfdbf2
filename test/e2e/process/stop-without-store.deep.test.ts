import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { createFastTime } from '../../chaos/fast-time.ts';
import { verifies } from '../../requirements.ts';
import { findProgram, startRedis } from '../../store/support/database-server.ts';
import { eventually, startGateway } from '../../support/gateway.ts';

const path = findProgram('redis-server');
/** So much faster does the gateway give its store up. */
const RATE = 8;
const ENV = {
  MASTER: 'a-master-key-of-32-characters-00',
  ...createFastTime(RATE).environment,
};

it.skipIf(path === undefined)(
  verifies('ops.shutdown.drain', 'a gateway whose store is away ends when it is told to'),
  async () => {
    const redis = await startRedis(path!);
    onTestFinished(() => redis.stop());
    const reply = { text: 'one two three', chunks: 3, chunk_delay_ms: 500 * RATE };
    const gateway = await startGateway(
      {
        server: {
          store: { driver: 'redis', options: { url: redis.url } },
          secrets: { master_key: '${secret:env:MASTER}' },
          drain: '1s',
        },
        providers: [{ name: 'mock', type: 'mock', mock: { rules: [{ reply }] } }],
        models: [{ name: 'acme/slow', routes: [{ provider: 'mock' }] }],
      },
      { binary: true, env: ENV },
    );
    onTestFinished(async () => void gateway.child?.kill('SIGKILL'));
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.clientKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        model: 'acme/slow',
        stream: true,
        messages: [{ role: 'user', content: 'go' }],
      }),
    });
    expect(answer.status).toBe(200);
    const gone = once(redis.process, 'exit');
    redis.process.kill('SIGKILL');
    await gone;
    // Its record has no end yet, and gets none while the store is away.
    await answer.text();
    await eventually(async () => {
      const { status } = await gateway.call('GET', '/readyz', { key: '' });
      return status === 503;
    });
    const exit = once(gateway.child!, 'exit');
    gateway.child!.kill('SIGTERM');
    const [code] = await exit;
    expect([0, 1]).toContain(code);
  },
);
