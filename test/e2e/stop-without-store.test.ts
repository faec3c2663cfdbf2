import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { verifies } from '../requirements.ts';
import { findProgram, startRedis } from '../store/support/database-server.ts';
import { eventually, startGateway } from '../support/gateway.ts';

const path = findProgram('redis-server');

it.skipIf(path === undefined)(
  verifies('ops.shutdown.drain', 'a gateway whose store is away ends when it is told to'),
  async () => {
    const redis = await startRedis(path!);
    onTestFinished(() => redis.stop());
    const gateway = await startGateway(
      {
        server: {
          store: { driver: 'redis', options: { url: redis.url } },
          secrets: { master_key: '${secret:env:MASTER}' },
          drain: '1s',
        },
      },
      { binary: true, env: { MASTER: 'a-master-key-of-32-characters-00' } },
    );
    onTestFinished(async () => void gateway.child?.kill('SIGKILL'));
    const gone = once(redis.process, 'exit');
    redis.process.kill('SIGKILL');
    await gone;
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
