import { describe, expect, it } from 'vitest';
import { toConnectionError } from '../../../src/client/http/connection-error.ts';

const CALL = { server: 'http://g.test', expired: false, aborted: false, attempts: 2, isRead: true };
const withCode = (code: string, cause?: unknown): Error =>
  Object.assign(new Error('failed', { cause }), { code });

describe('a call without an answer', () => {
  it('is told with its attempts, its cause and that it changed nothing', () => {
    const cause = withCode('ECONNRESET');
    expect(toConnectionError(cause, CALL)).toMatchObject({
      code: 'connection_lost',
      message: 'the connection to http://g.test was lost',
      status: undefined,
      attempts: 2,
      isRead: true,
      cause,
    });
  });

  it('timed out before anything else is said of it', () => {
    const thrown = withCode('ECONNREFUSED');
    expect(toConnectionError(thrown, { ...CALL, expired: true, aborted: true })).toMatchObject({
      code: 'timeout',
      message: 'http://g.test did not answer in time',
    });
    expect(toConnectionError(thrown, { ...CALL, aborted: true })).toMatchObject({
      code: 'aborted',
      message: 'interrupted',
    });
  });

  it.each([
    ['the error itself', withCode('ECONNREFUSED')],
    ['its cause', new TypeError('fetch failed', { cause: withCode('ECONNREFUSED') })],
    ['the cause of one without a code', withCode('', withCode('ECONNREFUSED'))],
    [
      'the first of several addresses',
      new TypeError('fetch failed', {
        cause: new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')]),
      }),
    ],
  ])('never left where the code of %s says so', (_, thrown) => {
    expect(toConnectionError(thrown, CALL)).toMatchObject({
      code: 'unreachable',
      message: 'cannot reach http://g.test (ECONNREFUSED)',
    });
  });

  it('never left for a port that fetch does not call', () => {
    const thrown = new TypeError('fetch failed', { cause: new Error('bad port') });
    expect(toConnectionError(thrown, CALL)).toMatchObject({
      code: 'unreachable',
      message: 'cannot reach http://g.test (bad port)',
    });
  });

  it.each(['broken', undefined, { code: 'ECONNREFUSED' }, new Error('other')])(
    'is lost where nothing tells why: %s',
    (thrown) => {
      expect(toConnectionError(thrown, CALL).code).toBe('connection_lost');
    },
  );

  it('is searched for its code no deeper than five causes', () => {
    const nested = (depth: number): Error =>
      depth === 0 ? withCode('ECONNREFUSED') : new Error('outer', { cause: nested(depth - 1) });
    expect(toConnectionError(nested(4), CALL).code).toBe('unreachable');
    expect(toConnectionError(nested(5), CALL).code).toBe('connection_lost');
  });
});
