import { describe, expect, it, vi } from 'vitest';
import type { JwtIssuer } from '../../../src/config/schema/jwt-schema.ts';
import { withTokens } from '../../../src/server/jwt/with-tokens.ts';
import type { TokensDeps } from '../../../src/server/jwt/with-tokens.ts';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** Of an issuer that nobody knows, so that it is refused without a look at any keys. */
const TOKEN = `${part({ alg: 'RS256' })}.${part({ iss: 'https://other.test' })}.c2ln`;

function setUp({ issuers = [{ issuer: 'https://issuer.test' }], ageMs = 0 } = {}) {
  const lookup = vi.fn(() => 'revoked' as const);
  const catchUp = vi.fn(async () => undefined);
  const state = { ageMs };
  const deps = { issuers: issuers as JwtIssuer[], ageMs: () => state.ageMs, catchUp };
  return { lookup, catchUp, state, find: withTokens(lookup, deps as unknown as TokensDeps) };
}

describe('keys and tokens', () => {
  it('are all keys without an issuer', () => {
    const { lookup, find } = setUp({ issuers: [] });
    expect(find).toBe(lookup);
  });

  it.each(['sk-1', 'eyJ.a', 'eyJ.a.b.c', 'xeyJ.a.b', 'eyJ..b', `${TOKEN}=`, ` ${TOKEN}`])(
    'are told apart: %j is a key',
    (presented) => {
      const { lookup, find } = setUp();
      expect(find(presented)).toBe('revoked');
      expect(lookup).toHaveBeenCalledWith(presented);
    },
  );

  it('are told apart: a token is never looked up as a key', async () => {
    const { lookup, find } = setUp();
    expect(await find(TOKEN)).toBe('unknown');
    expect(lookup).not.toHaveBeenCalled();
  });

  it('refuse a token of more than 8,192 characters without reading it', () => {
    const { find } = setUp();
    const padded = (length: number): string => TOKEN.padEnd(length, 'a');
    expect(find(padded(8_193))).toBe('unknown');
    expect(find(padded(8_192))).toBeInstanceOf(Promise);
  });

  it('look at the changes first where what is known of them is a second old', async () => {
    const { catchUp, state, find } = setUp({ ageMs: 999 });
    await find(TOKEN);
    expect(catchUp).not.toHaveBeenCalled();
    state.ageMs = 1_000;
    await find(TOKEN);
    expect(catchUp).toHaveBeenCalledTimes(1);
  });
});
