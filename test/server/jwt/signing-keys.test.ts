import { errors } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { SigningKeys } from '../../../src/server/jwt/signing-keys.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { ISSUER, issuerOf, JWKS_URI, makeSigningKey, setOf } from './issuer-of-tests.ts';
import type { SigningKey } from './issuer-of-tests.ts';

const MINUTE = 60_000;
const FRESH = 10 * MINUTE;
const COOLDOWN = 30_000;
const DISCOVERY = `${ISSUER}/.well-known/openid-configuration`;
const settled = () => new Promise((resolve) => setImmediate(resolve));

let a: SigningKey;
let b: SigningKey;
beforeAll(
  async () => void ([a, b] = await Promise.all([makeSigningKey('a'), makeSigningKey('b')])),
);

function setUp(more: object = {}) {
  const clock = createFakeClock();
  clock.advance(MINUTE);
  const reads: string[] = [];
  const failures: unknown[] = [];
  const documents: Record<string, string | Error> = { [JWKS_URI]: setOf(a) };
  const state: { gate: Promise<void> | undefined } = { gate: undefined };
  const read = async (url: string): Promise<string> => {
    reads.push(url);
    await state.gate;
    const found = documents[url] ?? new Error(`no ${url}`);
    if (found instanceof Error) throw found;
    return found;
  };
  const onError = (error: unknown) => void failures.push(error);
  const keys = new SigningKeys(issuerOf(more), { clock, read, onError });
  const find = (kid: string) => keys.find({ alg: 'ES256', kid }, { payload: '', signature: '' });
  /** Holds every answer back until the returned function is called. */
  const hold = (): (() => void) => {
    let open = (): void => undefined;
    state.gate = new Promise((resolve) => (open = resolve));
    return open;
  };
  return { clock, reads, failures, documents, find, hold };
}

describe('the public keys of an issuer', () => {
  it('are read when the first is needed, once for all who wait', async () => {
    const { reads, find } = setUp();
    expect(reads).toEqual([]);
    const found = await Promise.all([find('a'), find('a'), find('a')]);
    for (const key of found) expect(key).toMatchObject({ type: 'public' });
    await find('a');
    expect(reads).toEqual([JWKS_URI]);
  });

  it('reject with what kept the first set from being read, and are asked for again at once', async () => {
    const { reads, documents, failures, find } = setUp();
    documents[JWKS_URI] = new Error('away');
    await expect(find('a')).rejects.toThrow('away');
    documents[JWKS_URI] = setOf(a);
    await find('a');
    expect(reads.length).toBe(2);
    expect(failures).toEqual([]);
  });

  it.each(['<html>Maintenance</html>', '{}', '{"keys":{}}', '{"keys":[1]}'])(
    'reject with a fault of the issuer where it answers with no key set: %s',
    async (text) => {
      const { documents, find } = setUp();
      documents[JWKS_URI] = text;
      const failure: unknown = await Promise.resolve(find('a')).catch((thrown: unknown) => thrown);
      expect(failure).not.toBeInstanceOf(errors.JOSEError);
      expect(String(failure)).toContain(`${JWKS_URI} answered with no key set`);
    },
  );

  it('are used without a further look for ten minutes', async () => {
    const { clock, reads, documents, find } = setUp();
    await find('a');
    documents[JWKS_URI] = setOf(b);
    clock.advance(FRESH);
    await find('a');
    expect(reads.length).toBe(1);
    clock.advance(1);
    await find('a');
    expect(reads.length).toBe(2);
    await find('b');
    await expect(find('a')).rejects.toThrow(errors.JWKSNoMatchingKey);
    expect(reads.length).toBe(2);
  });

  it('keep nobody waiting while a newer set is read', async () => {
    const { clock, reads, find, hold } = setUp();
    await find('a');
    clock.advance(FRESH + 1);
    hold();
    await find('a');
    await find('a');
    expect(reads.length).toBe(2);
  });

  it('go on as they were where a newer set cannot be read, which is tried twice a minute', async () => {
    const { clock, reads, failures, documents, find } = setUp();
    await find('a');
    const failure = new Error('away');
    documents[JWKS_URI] = failure;
    clock.advance(FRESH + 1);
    await find('a');
    await settled();
    expect(failures).toEqual([failure]);
    clock.advance(COOLDOWN - 1);
    await find('a');
    expect(reads.length).toBe(2);
    clock.advance(1);
    await find('a');
    await settled();
    expect(reads.length).toBe(3);
    expect(failures).toEqual([failure, failure]);
  });

  it('are read again for a key that nobody knows, at most twice a minute', async () => {
    const { clock, reads, documents, find } = setUp();
    await find('a');
    documents[JWKS_URI] = setOf(a, b);
    clock.advance(COOLDOWN - 1);
    await expect(find('b')).rejects.toThrow(errors.JWKSNoMatchingKey);
    expect(reads.length).toBe(1);
    clock.advance(1);
    expect(await find('b')).toMatchObject({ type: 'public' });
    expect(reads.length).toBe(2);
    clock.advance(COOLDOWN);
    await expect(find('c')).rejects.toThrow(errors.JWKSNoMatchingKey);
    expect(reads.length).toBe(3);
  });

  it('reject with the failure of the look for a key that nobody knows', async () => {
    const { clock, failures, documents, find } = setUp();
    await find('a');
    documents[JWKS_URI] = new Error('away');
    clock.advance(COOLDOWN);
    await expect(find('b')).rejects.toThrow('away');
    expect(failures).toEqual([]);
    await find('a');
  });

  it('let a key that nobody knows wait for the set that is being read', async () => {
    const { clock, reads, documents, find, hold } = setUp();
    await find('a');
    clock.advance(FRESH + 1);
    documents[JWKS_URI] = setOf(b);
    const open = hold();
    await find('a');
    const waiting = find('b');
    open();
    expect(await waiting).toMatchObject({ type: 'public' });
    expect(reads.length).toBe(2);
  });

  it('refuse another algorithm without another look', async () => {
    const { clock, reads, documents, find } = setUp();
    documents[JWKS_URI] = setOf(a).replace(/"x":"[^"]*"/, '"x":"AA"');
    await expect(find('a')).rejects.toThrow();
    clock.advance(COOLDOWN);
    await expect(find('a')).rejects.toThrow();
    expect(reads.length).toBe(1);
  });

  it.each(['', '[]', '{}', '{"keys":{}}'])('are none where the document is %j', async (text) => {
    const { documents, find } = setUp();
    documents[JWKS_URI] = text;
    await expect(find('a')).rejects.toThrow();
  });
});

describe('the place of the public keys', () => {
  const discovered = (more: object = {}) => {
    const made = setUp({ jwks_uri: null, ...more });
    made.documents['https://keys.example/set'] = setOf(a);
    return made;
  };
  const told = (more: object = {}) =>
    JSON.stringify({ issuer: ISSUER, jwks_uri: 'https://keys.example/set', ...more });

  it('is what the OpenID configuration says', async () => {
    const { reads, documents, find } = discovered();
    documents[DISCOVERY] = told();
    await find('a');
    expect(reads).toEqual([DISCOVERY, 'https://keys.example/set']);
  });

  it('is looked for below an issuer that ends with a slash', async () => {
    const issuer = `${ISSUER}/`;
    const { reads, documents, find } = discovered({ issuer });
    documents[DISCOVERY] = told({ issuer });
    await find('a');
    expect(reads[0]).toBe(DISCOVERY);
  });

  it.each([
    [told({ issuer: 'https://other.example' })],
    [told({ issuer: `${ISSUER}/` })],
    [told({ jwks_uri: undefined })],
    [told({ jwks_uri: ['https://keys.example/set'] })],
    [told({ jwks_uri: 'file:///etc/keys' })],
    [told({ jwks_uri: ' https://keys.example/set' })],
    ['no JSON'],
  ])('is not what the OpenID configuration %s says', async (document) => {
    const { reads, documents, find } = discovered();
    documents[DISCOVERY] = document;
    await expect(find('a')).rejects.toThrow(`the OpenID configuration of ${ISSUER} is not its own`);
    expect(reads).toEqual([DISCOVERY]);
  });
});
