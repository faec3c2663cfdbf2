import { describe, expect, it } from 'vitest';
import { createPathFinder } from '../../../src/server/paths/find-meant-path.ts';

const find = createPathFinder([
  '/healthz',
  '/v1/chat/completions',
  '/v1/messages',
  '/v1/models',
  '/v1/models/**',
  '/v1/api/:vendor/**',
  '/v1beta/models/**',
  '/**',
]);

describe('the path that was meant', () => {
  it.each([
    ['/v1/v1/chat/completions', '/v1/chat/completions'],
    ['/chat/completions', '/v1/chat/completions'],
    ['/api/v1/chat/completions', '/v1/chat/completions'],
    ['/openai/deployments/x/chat/completions', '/v1/chat/completions'],
    ['/v1/chat/completions/', '/v1/chat/completions'],
    ['//v1//messages', '/v1/messages'],
    ['/models', '/v1/models'],
    ['/v1/v1/models/a/b', '/v1/models/a/b'],
    ['/v1/v1beta/models/a:generateContent', '/v1beta/models/a:generateContent'],
    ['/api/acme/users', '/v1/api/acme/users'],
  ])('%s has a wrong beginning: %s', (path, meant) => {
    expect(find(path)).toMatchObject({ path: meant, isBase: true });
  });

  it.each([
    ['/v1/completions', '/v1/chat/completions'],
    ['/v1/mesages', '/v1/messages'],
    ['/healthy', '/healthz'],
  ])('%s has a part wrong: %s', (path, meant) => {
    expect(find(path)).toMatchObject({ path: meant, isBase: false });
  });

  it.each(['/', '/v1', '/nothing/of/the/kind', '/v1/audio/speech', `/${'a/'.repeat(10_000)}`])(
    'is unknown for %.30s',
    (path) => expect(find(path)).toBeUndefined(),
  );
});
