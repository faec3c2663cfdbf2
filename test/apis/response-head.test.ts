import { describe, expect, it } from 'vitest';
import { refusalOf, toClientHead } from '../../src/apis/response-head.ts';
import { verifies } from '../requirements.ts';
import { makeApi } from './make-api.ts';

describe('the head of an answer', () => {
  it(
    verifies(
      'routing.upstream-headers.allow-list',
      'tells of the body, and of the operator’s account nothing but what is let through',
    ),
    () => {
      const upstream = {
        'content-type': 'application/json',
        'content-length': '12',
        'content-encoding': 'br',
        'content-range': 'bytes 0-1/2',
        'accept-ranges': 'bytes',
        etag: '"a"',
        'last-modified': 'Sat, 21 Nov 2026 00:00:00 GMT',
        'set-cookie': ['a=1'],
        'x-ratelimit-remaining': '7',
        'retry-after': '9',
        'x-organization': 'acme',
        'x-total-count': '31',
        connection: 'close',
        server: 'inner',
        location: 'https://inner.example',
      };
      const api = makeApi({ response_headers: ['X-Total-Count', 'link'] });
      expect(toClientHead(200, upstream, api)).toEqual({
        'content-type': 'application/json',
        'content-length': '12',
        'content-encoding': 'br',
        'content-range': 'bytes 0-1/2',
        'accept-ranges': 'bytes',
        etag: '"a"',
        'last-modified': 'Sat, 21 Nov 2026 00:00:00 GMT',
        'x-total-count': '31',
      });
    },
  );

  it('has no length without a body, and nothing that cannot be written', () => {
    const upstream = { 'content-length': '12', etag: '"\u0001"', 'content-type': 'a\nb' };
    expect(toClientHead(304, upstream, makeApi())).toEqual({});
  });

  it('lets no one hold events back', () => {
    const head = toClientHead(200, { 'content-type': 'text/event-stream' }, makeApi());
    expect(head).toMatchObject({ 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });
  });
});

describe('the status of an answer', () => {
  it.each([200, 201, 202, 204, 206, 299, 304, 400, 404, 405, 409, 410, 418, 422, 429, 451, 499])(
    'is told as it is: %i',
    (status) => expect(refusalOf(status)).toBeUndefined(),
  );

  it.each([401, 402, 403, 407])(
    'is the gateway’s failure where it is about its account: %i',
    (s) => {
      expect(refusalOf(s)).toMatchObject({ status: 503, retry: false });
    },
  );

  it.each([500, 501, 502, 503, 504, 529, 599, 300, 301, 302, 303, 307, 308])(
    'is 502 for a failure and for a redirect: %i',
    (status) => expect(refusalOf(status)).toMatchObject({ status: 502, code: 'api_failed' }),
  );
});
