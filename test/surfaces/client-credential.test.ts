import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { GOOGLE, STANDARD } from '../../src/protocols/family.ts';
import type { Family } from '../../src/protocols/family.ts';
import type { KeyFound } from '../../src/surfaces/gate.ts';
import { readClientCredential } from '../../src/surfaces/client-credential.ts';
import { principal } from '../usage/usage-fixtures.ts';
import { SPOKEN } from '../protocols/spoken.ts';
import { verifies } from '../requirements.ts';

const OURS = 'sk-ours';
const KEYS: Record<string, KeyFound> = {
  [OURS]: principal(),
  'sk-other': principal({ organizationId: 'org_other' }),
  'sk-revoked': 'revoked',
  'sk-expired': 'expired',
};
const MESSAGES = SPOKEN.surfaces.find(({ name }) => name === 'messages')?.family as Family;
const NAME = 'x-gateway-upstream-authorization';

function read(family: Family, headers: IncomingHttpHeaders, lookup = find) {
  const exchange = { request: { headers } as IncomingMessage, search: '' };
  return readClientCredential({ family, provider: 'own' }, exchange, { lookup });
}

function find(key: string): KeyFound | Promise<KeyFound> {
  return KEYS[key] ?? 'unknown';
}

const bearer = { authorization: `Bearer ${OURS}` };

describe('the credential of a client', () => {
  it.each([
    ['Bearer vendor-1', { form: 'token', value: 'vendor-1' }],
    ['bearer   vendor-1 ', { form: 'token', value: 'vendor-1' }],
    [' vendor-1', { form: 'key', value: 'vendor-1' }],
    ['id-1:vendor|1', { form: 'key', value: 'id-1:vendor|1' }],
  ])('is %j in the header for it, in every family', async (sent, expected) => {
    for (const family of [STANDARD, GOOGLE, MESSAGES])
      expect(await read(family, { ...bearer, [NAME]: sent })).toEqual(expected);
  });

  it('is Authorization on Messages where the key of the gateway is in x-api-key', async () => {
    const headers = { 'x-api-key': OURS, authorization: 'Bearer vendor-1' };
    expect(await read(MESSAGES, headers)).toEqual({ form: 'token', value: 'vendor-1' });
    const both = { ...headers, [NAME]: 'vendor-2' };
    expect(await read(MESSAGES, both)).toEqual({ form: 'key', value: 'vendor-2' });
  });

  it.each([
    ['no header', STANDARD, bearer],
    ['an empty one', STANDARD, { ...bearer, [NAME]: ' ' }],
    ['a scheme without a token', STANDARD, { ...bearer, [NAME]: 'Bearer ' }],
    ['only the key of the gateway on Messages', MESSAGES, bearer],
    ['x-api-key alone on Messages', MESSAGES, { 'x-api-key': OURS }],
    [
      "Google's header beside Authorization",
      GOOGLE,
      { 'x-goog-api-key': OURS, authorization: 'Bearer vendor-1' },
    ],
  ])('is missing with %s', async (_name, family, headers) => {
    const failure = await read(family, headers).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'missing_client_credential', status: 401, retry: false });
    expect((failure as Error).message).toMatch(
      /^provider own takes your own credential: send it in x-gateway-upstream-authorization, as/,
    );
    expect(/x-api-key/.test((failure as Error).message)).toBe(family === MESSAGES);
  });

  it.each([
    'Basic abc',
    'Bearer a b',
    'Bearer a, Bearer b',
    'k\u00e9y',
    'Bearer a,b c',
    'a:b:c:d:e:f:g:h',
  ])('is refused as %j', async (sent) => {
    await expect(read(STANDARD, { ...bearer, [NAME]: sent })).rejects.toMatchObject({
      code: 'client_credential_refused',
      status: 401,
      message: 'the credential for the provider must be `Bearer TOKEN` or a key',
    });
  });

  it(
    verifies('providers.client-auth', 'is never a key of the gateway, of whatever organization'),
    async () => {
      for (const key of [...Object.keys(KEYS), `x${OURS}x`, `Bearer:${OURS}`])
        for (const sent of [key, `Bearer ${key}`])
          await expect(read(STANDARD, { ...bearer, [NAME]: sent })).rejects.toMatchObject({
            code: 'client_credential_refused',
            message: expect.stringContaining('is a key of this gateway'),
          });
      const wrapped = (key: string) => [`${key},`, `"${key}"`, `vendor-1,${key}`, `Bearer:${key}`];
      for (const sent of Object.keys(KEYS).flatMap(wrapped))
        await expect(read(STANDARD, { ...bearer, [NAME]: sent })).rejects.toMatchObject({
          code: 'client_credential_refused',
          message: expect.stringContaining('is a key of this gateway'),
        });
      for (const key of Object.keys(KEYS))
        await expect(
          read(MESSAGES, { 'x-api-key': OURS, authorization: `Bearer ${key}` }),
        ).rejects.toMatchObject({ code: 'client_credential_refused' });
    },
  );

  it('goes nowhere while the keys cannot be looked up', async () => {
    const headers = { ...bearer, [NAME]: 'vendor-1' };
    const failures = [
      () => Promise.reject(new Error('down')),
      (): never => {
        throw new Error('down');
      },
    ];
    for (const lookup of failures)
      await expect(read(STANDARD, headers, lookup)).rejects.toMatchObject({
        code: 'persistence_failed',
      });
  });
});
