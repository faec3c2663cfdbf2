import { describe, expect, it } from 'vitest';
import { ClientError } from '../../../src/client/http/client-error.ts';
import { DEFAULT_RETRY, parseRetryAfter, retryDelay } from '../../../src/client/http/retry.ts';
import { verifies } from '../../requirements.ts';

const context = { method: 'GET', policy: DEFAULT_RETRY, random: () => 0 };
const failure = (status: number | undefined, more = {}) =>
  new ClientError({ status, code: 'x', message: 'x', attempts: 1, ...more });

describe('retry rules', () => {
  it(
    verifies(
      'cli.http.retry-rules',
      'never repeat an unchanged call that the client is at fault for',
    ),
    () => {
      for (const status of [400, 401, 402, 403, 404, 409, 422]) {
        expect(retryDelay(failure(status), context)).toBeUndefined();
      }
    },
  );

  it(verifies('cli.http.retry-rules', 'double the pause up to the maximum, with jitter'), () => {
    const at = (attempts: number, random = 0) =>
      retryDelay(failure(503, { attempts }), {
        ...context,
        policy: { maxAttempts: 99, baseMs: 250, maxMs: 10_000 },
        random: () => random,
      });
    expect([1, 2, 3, 4].map((attempt) => at(attempt))).toEqual([250, 500, 1000, 2000]);
    expect(at(40)).toBe(10_000);
    expect(at(1, 0.999)).toBeGreaterThan(300);
  });

  it(verifies('cli.http.retry-rules', 'give up after a bounded number of attempts'), () => {
    expect(
      retryDelay(failure(503, { attempts: DEFAULT_RETRY.maxAttempts }), context),
    ).toBeUndefined();
  });

  it(
    verifies('cli.http.retry-rules', 'wait as long as Retry-After says, within the maximum'),
    () => {
      expect(retryDelay(failure(429, { retryAfterMs: 3000 }), context)).toBe(3000);
      expect(retryDelay(failure(429, { retryAfterMs: 3_600_000 }), context)).toBe(10_000);
    },
  );

  it('do not repeat calls with side effects, nor what the server declares final', () => {
    expect(retryDelay(failure(503), { ...context, method: 'POST' })).toBeUndefined();
    expect(retryDelay(failure(503), { ...context, method: 'patch' })).toBeUndefined();
    expect(retryDelay(failure(503, { final: true }), context)).toBeUndefined();
  });

  it('repeat a lost connection, but not a server that nobody runs or a call that timed out', () => {
    expect(retryDelay(failure(undefined, { code: 'connection_lost' }), context)).toBe(250);
    expect(retryDelay(failure(undefined, { code: 'unreachable' }), context)).toBeUndefined();
    expect(retryDelay(failure(undefined, { code: 'timeout' }), context)).toBeUndefined();
  });

  it('read Retry-After in seconds and as a date', () => {
    const now = Date.parse('2026-11-21T10:00:00Z');
    expect(parseRetryAfter('2', now)).toBe(2000);
    expect(parseRetryAfter('Sat, 21 Nov 2026 10:00:05 GMT', now)).toBe(5000);
    expect(parseRetryAfter('Sat, 21 Nov 2026 09:00:00 GMT', now)).toBe(0);
    expect(parseRetryAfter('soon', now)).toBeUndefined();
    expect(parseRetryAfter(null, now)).toBeUndefined();
  });
});
