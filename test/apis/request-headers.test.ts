import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toApiHeaders } from '../../src/apis/request-headers.ts';
import { createRequestHead } from '../../src/upstream/http1/request-head.ts';
import { verifies } from '../requirements.ts';
import { makeApi } from './make-api.ts';

const sent = (headers: Record<string, string>, api = makeApi()): Record<string, string> => {
  const flat = toApiHeaders(headers, api);
  const pairs = flat.flatMap((name, index) => (index % 2 ? [] : [[name, flat[index + 1] ?? '']]));
  // Twice the same name would be lost here.
  expect(new Set(pairs.map(([name]) => name)).size).toBe(pairs.length);
  return Object.fromEntries(pairs);
};

describe('the headers of a call to an API', () => {
  it('are the client’s own', () => {
    const headers = {
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
      accept: 'text/csv',
      'accept-encoding': 'br',
      'accept-language': 'fi',
      range: 'bytes=0-9',
      'if-none-match': '"a"',
      'user-agent': 'curl/8',
      'x-vendor-option': 'yes',
      'x-client-info': 'sdk/1',
      'idempotency-key': 'k',
    };
    expect(sent(headers)).toEqual({ ...headers, authorization: 'Bearer acme-secret' });
  });

  it(
    verifies(
      'auth.upstream.client-credential-not-forwarded',
      'hold no credential but that of the API, once',
    ),
    () => {
      const carriers =
        'authorization x-api-key api-key x-native-api-key x-goog-api-key cookie proxy-authorization';
      const client = Object.fromEntries(carriers.split(' ').map((name) => [name, 'client-secret']));
      expect(sent(client)).toEqual({ authorization: 'Bearer acme-secret' });
      const byHeader = makeApi({ auth: { type: 'header', name: 'X-API-Key', prefix: 'v1 ' } });
      expect(sent(client, byHeader)).toEqual({ 'x-api-key': 'v1 acme-secret' });
      const byOther = makeApi({ auth: { type: 'header', name: 'X-Acme-Token' } });
      expect(sent({ 'x-acme-token': 'mine' }, byOther)).toEqual({ 'x-acme-token': 'acme-secret' });
      for (const auth of [{ type: 'query', name: 'k' }, { type: 'none' }] as const) {
        expect(sent(client, makeApi({ auth }))).toEqual({});
      }
    },
  );

  it(
    verifies(
      'passthrough.headers.underscore',
      'hold none that a server may read as a reserved one or a credential',
    ),
    () => {
      const reserved =
        'connection content-length transfer-encoding te trailer upgrade expect host keep-alive ' +
        'proxy-connection authorization proxy-authorization cookie x-api-key api-key ' +
        'x-goog-api-key x-native-api-key x-forwarded-for x-forwarded-host x-real-ip ' +
        'x-http-method-override x-original-url cf-connecting-ip sec-fetch-mode x-acme-token';
      const spellings = reserved
        .split(' ')
        .flatMap((name) => ['_', '.', '~'].map((other) => name.replaceAll('-', other)))
        .filter((name) => /[_.~]/.test(name));
      spellings.push('x_api-key', 'x-api_key', 'transfer_encoding', 'content_length');
      const client = Object.fromEntries(spellings.map((name) => [name, 'client']));
      const api = makeApi({ auth: { type: 'header', name: 'X-Acme-Token' } });
      expect(sent(client, api)).toEqual({ 'x-acme-token': 'acme-secret' });
      const named = { connection: 'x-private', x_private: '1', x_other: '2' };
      expect(sent(named, api)).toEqual({ x_other: '2', 'x-acme-token': 'acme-secret' });
      const signed = makeApi({ auth: { type: 'signature', name: 'sig', key_id: 'k' } as never });
      expect(sent({ signature_input: 'x', content_digest: 'y' }, signed)).toEqual({});
    },
  );

  it('say nothing of this connection, of the client or of another method or path', () => {
    const headers = {
      connection: 'close, X-Private, te',
      'x-private': '1',
      'keep-alive': 'timeout=5',
      'transfer-encoding': 'chunked',
      'content-length': '3',
      te: 'trailers',
      trailer: 'x',
      upgrade: 'h2c',
      'http2-settings': 'x',
      expect: '100-continue',
      host: 'gateway.example',
      forwarded: 'for=10.0.0.1',
      via: '1.1 edge',
      'x-forwarded-for': '10.0.0.1',
      'x-forwarded-host': 'gateway.example',
      'x-real-ip': '10.0.0.1',
      'cf-connecting-ip': '10.0.0.1',
      'true-client-ip': '10.0.0.1',
      'x-http-method-override': 'DELETE',
      'x-original-url': '/admin',
      'x-rewrite-url': '/admin',
      referer: 'https://gateway.example/v1/api?key=client-secret',
      origin: 'https://page.example',
      'sec-fetch-mode': 'cors',
    };
    expect(sent(headers, makeApi({ auth: { type: 'none' } }))).toEqual({});
  });

  it('have the operator’s in place of the client’s', () => {
    const api = makeApi({ headers: { 'X-Version': '2' }, auth: { type: 'none' } });
    expect(sent({ 'x-version': '1', accept: '*/*' }, api)).toEqual({
      'x-version': '2',
      accept: '*/*',
    });
  });

  it('ask for no compression where the answer is read for its price', () => {
    const api = makeApi({
      auth: { type: 'none' },
      usage: { input: { field: '$.used', most: 1 } },
    });
    expect(sent({ 'accept-encoding': 'gzip', accept: '*/*' }, api)).toEqual({ accept: '*/*' });
  });

  it('can be sent, whatever the client names them', () => {
    const name = fc.stringMatching(/^[a-z!#$%&'*+.^_`|~-]{1,12}$/);
    const value = fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,12}$/);
    const names = fc.oneof(name, fc.constantFrom('constructor', '__proto__', 'te', 'host', 'date'));
    fc.assert(
      fc.property(fc.array(fc.tuple(names, value)), (pairs) => {
        const headers = toApiHeaders(Object.fromEntries(pairs), makeApi());
        const url = new URL('https://api.example/base/a');
        const head = createRequestHead({ url, method: 'GET', headers, body: undefined }, 'h');
        expect(head.match(/^authorization: /gm)).toHaveLength(1);
        expect(head.match(/^host: /gm)).toHaveLength(1);
      }),
    );
  });
});
