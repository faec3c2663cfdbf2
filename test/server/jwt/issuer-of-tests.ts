import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { JWTPayload } from 'jose';
import { jwtSettings } from '../../../src/config/schema/jwt-schema.ts';
import type { JwtIssuer } from '../../../src/config/schema/jwt-schema.ts';

export const ISSUER = 'https://id.example';
export const JWKS_URI = 'https://id.example/keys';
export const AUDIENCE = 'gateway';

/** Settings of an issuer, as the configuration gives them. */
export function issuerOf(more: object = {}): JwtIssuer {
  const own = { issuer: ISSUER, audience: AUDIENCE, organization: 'team', jwks_uri: JWKS_URI };
  const { issuers } = jwtSettings.parse({ issuers: { corp: { ...own, ...more } } });
  return { name: 'corp', ...issuers['corp']! };
}

export interface SigningKey {
  /** Public half, as a set of keys lists it. */
  readonly jwk: object;
  sign(claims: JWTPayload): Promise<string>;
}

export async function makeSigningKey(kid: string): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  return {
    jwk: { ...(await exportJWK(publicKey)), use: 'sig', alg: 'ES256', kid },
    sign: (claims) =>
      new SignJWT({ iss: ISSUER, aud: AUDIENCE, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid })
        .sign(privateKey),
  };
}

/** Text of a set of public keys. */
export const setOf = (...keys: readonly SigningKey[]): string =>
  JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
