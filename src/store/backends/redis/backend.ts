import { defineBackend } from '../../backend.ts';

/** A store on Redis 7.0 or newer. */
export const redis = defineBackend({
  drivers: ['redis'],
  scope: 'cluster',
  packages: ['ioredis'],
  place: {
    kind: 'server',
    schemes: ['redis', 'rediss'],
    parameters: { prefix: 'text', allow_volatile: 'flag' },
    form: 'redis://HOST/?prefix=NAME:',
  },
  async open({ options = {} }, { clock }) {
    const { openRedisStore } = await import('./open-redis-store.ts');
    return openRedisStore(options, clock);
  },
  raw: {
    async open({ options = {} }, { isToServe }) {
      const { openRawRedis } = await import('./raw-redis.ts');
      return openRawRedis(options, { isToServe });
    },
    async openTarget({ options = {} }) {
      const { openRawRedisTarget } = await import('./raw-redis.ts');
      return openRawRedisTarget(options);
    },
  },
});
