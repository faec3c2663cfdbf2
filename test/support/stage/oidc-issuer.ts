import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { JWK, JWTPayload } from 'jose';
import { Provider } from 'oidc-provider';

export const AUDIENCE = 'https://gateway.example';
const SECRET = 'a-secret-of-a-client-that-is-long-enough';

export interface OidcIssuer {
  readonly url: string;
  /** Requests for its public keys so far. */
  readonly reads: number;
  /** A token for a client, made by the provider itself. */
  token(client: string, audience?: string): Promise<string>;
  /** A token with any claims, signed by its present key. */
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
  /** Goes on with a new signing key alone. */
  rotate(): Promise<void>;
  stop(): Promise<void>;
}

/** Runs a real OpenID provider whose clients get the claims that are told of them. */
export async function startOidcIssuer(
  claimsOf: Readonly<Record<string, Record<string, unknown>>>,
): Promise<OidcIssuer> {
  let server: Server | undefined;
  let port = 0;
  let reads = 0;
  let jwk: JWK = {};
  let key: CryptoKey | undefined;

  const renew = async (): Promise<void> => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    key = pair.privateKey;
    const kid = `key-${Date.now()}-${Math.random()}`;
    jwk = { ...(await exportJWK(pair.privateKey)), use: 'sig', alg: 'ES256', kid };
  };
  const url = (): string => `http://127.0.0.1:${port}`;
  const open = async (): Promise<void> => {
    const listening = createServer();
    listening.listen(port, '127.0.0.1');
    await once(listening, 'listening');
    ({ port } = listening.address() as AddressInfo);
    const provider = new Provider(url(), {
      jwks: { keys: [jwk] },
      clients: Object.keys(claimsOf).map((id) => ({
        client_id: id,
        client_secret: SECRET,
        id_token_signed_response_alg: 'ES256',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      })),
      extraTokenClaims: (_context, token) => claimsOf[token.clientId ?? ''],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context, audience) => ({
            scope: '',
            audience,
            accessTokenFormat: 'jwt',
            accessTokenTTL: 600,
            jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
    });
    const handle = provider.callback();
    listening.on('request', (request, response) => {
      if (request.url === '/jwks') reads++;
      void handle(request, response);
    });
    server = listening;
  };
  const close = async (): Promise<void> => {
    server?.closeAllConnections();
    await new Promise<unknown>((resolve) => server?.close(resolve));
  };
  await renew();
  await open();
  return {
    get url() {
      return url();
    },
    get reads() {
      return reads;
    },
    async token(client, audience = AUDIENCE) {
      const response = await fetch(`${url()}/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience }),
      });
      const { access_token: token } = (await response.json()) as { access_token: string };
      return token;
    },
    sign: (claims, header = {}) =>
      new SignJWT({ iss: url(), aud: AUDIENCE, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: jwk.kid ?? '', ...header })
        .sign(key as CryptoKey),
    async rotate() {
      await close();
      await renew();
      await open();
    },
    stop: close,
  };
}
