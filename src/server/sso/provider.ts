import { Buffer } from 'node:buffer';
import type * as OpenIdClient from 'openid-client';
import type { Configuration, CustomFetch } from 'openid-client';
import type { SsoConfig } from '../../config/schema/server-config.ts';
import { GatewayError } from '../../core/errors.ts';
import { lazy } from '../../core/lazy.ts';
import type { Clock } from '../../core/time/clock.ts';
import { guardedFetch } from '../../upstream/guard/guarded-fetch.ts';
import type { GuardedFetchOptions } from '../../upstream/guard/guarded-fetch.ts';
import type { UrlGuard } from '../../upstream/guard/url-guard.ts';

/** Settings of the provider with the secret itself. */
export interface SsoSettings extends Omit<SsoConfig, 'client_secret'> {
  readonly clientSecret: string | undefined;
}

export interface ProviderDeps {
  readonly settings: SsoSettings;
  readonly guard: UrlGuard;
  readonly clock: Clock;
}

/** Claims of an ID token whose issuer, audience, times and signature were checked. */
export type Claims = Readonly<Record<string, unknown>>;

/** Grant shown to a person who signs in on another device. */
export interface DeviceGrant {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string | null;
  /** Seconds. */
  readonly interval: number;
  readonly expires_in: number;
}

/** Values that tie the way back from the provider to the browser that left. */
export interface Departure {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/** The OpenID provider. All reject with `sso_unavailable` when it does not answer as it should. */
export interface OpenIdProvider {
  startDevice(): Promise<DeviceGrant>;
  /** Undefined: the person has not answered yet. Rejects with `sso_refused` when it is refused or over. */
  pollDevice(deviceCode: string): Promise<Claims | undefined>;
  /** Address to send a browser to, and what its way back must bring. */
  depart(redirectUri: string): Promise<Departure & { readonly href: string }>;
  /** Claims of who came back. Rejects with `sso_refused` when the provider or a check refuses. */
  arrive(search: string, departure: Departure): Promise<Claims>;
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** Metadata and keys are asked for again after this long. */
const FRESH_MS = 10 * 60_000;
const MAX_ANSWER_BYTES = 256 * 1024;
const DEFAULT_INTERVAL = 5;
const PENDING: ReadonlySet<unknown> = new Set(['authorization_pending', 'slow_down']);
/** Answers to a person's own doing; everything else is a fault of the settings or the provider. */
const DECLINED: ReadonlySet<unknown> = new Set([
  'access_denied',
  'expired_token',
  'invalid_grant',
  'login_required',
  'consent_required',
  'interaction_required',
]);

export function createOpenIdProvider(deps: ProviderDeps): OpenIdProvider {
  const { settings } = deps;
  const load = lazy('single sign-on', () => import('openid-client'));
  const discovered = createDiscovery(deps, load);
  const scope = [...new Set(['openid', ...settings.scopes])].join(' ');
  const asked = async <T>(work: (config: Configuration) => Promise<T>): Promise<T> => {
    try {
      return await work(await discovered());
    } catch (error) {
      throw toRefusal(error, settings.issuer);
    }
  };
  const ask: Asking = { asked, load, scope };
  return { ...devicePart(ask), ...browserPart(ask) };
}

interface Asking {
  /** Runs work at the provider; its rejection becomes a refusal. */
  asked<T>(work: (config: Configuration) => Promise<T>): Promise<T>;
  load(): Promise<typeof OpenIdClient>;
  readonly scope: string;
}

function devicePart({
  asked,
  load,
  scope,
}: Asking): Pick<OpenIdProvider, 'startDevice' | 'pollDevice'> {
  return {
    startDevice: () =>
      asked(async (config) => {
        const { initiateDeviceAuthorization } = await load();
        const grant = await initiateDeviceAuthorization(config, { scope });
        return {
          device_code: grant.device_code,
          user_code: grant.user_code,
          verification_uri: grant.verification_uri,
          verification_uri_complete: grant.verification_uri_complete ?? null,
          interval: grant.interval ?? DEFAULT_INTERVAL,
          expires_in: grant.expires_in,
        };
      }),
    pollDevice: (deviceCode) =>
      asked(async (config) => {
        const { genericGrantRequest } = await load();
        try {
          const tokens = await genericGrantRequest(config, DEVICE_GRANT, {
            device_code: deviceCode,
          });
          return claimsOf(tokens.claims());
        } catch (error) {
          if (PENDING.has(codeOf(error))) return undefined;
          throw error;
        }
      }),
  };
}

function browserPart({ asked, load, scope }: Asking): Pick<OpenIdProvider, 'depart' | 'arrive'> {
  return {
    depart: (redirectUri) =>
      asked(async (config) => {
        const client = await load();
        const departure = {
          state: client.randomState(),
          nonce: client.randomNonce(),
          verifier: client.randomPKCECodeVerifier(),
          redirectUri,
        };
        const { href } = client.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope,
          state: departure.state,
          nonce: departure.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(departure.verifier),
          code_challenge_method: 'S256',
        });
        return { ...departure, href };
      }),
    arrive: (search, { state, nonce, verifier, redirectUri }) =>
      asked(async (config) => {
        const { authorizationCodeGrant } = await load();
        const tokens = await authorizationCodeGrant(config, new URL(redirectUri + search), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        return claimsOf(tokens.claims());
      }),
  };
}

/** Metadata of the provider, read once and again when it is old; a failure is not kept. */
function createDiscovery(
  { settings, guard, clock }: ProviderDeps,
  load: () => Promise<typeof OpenIdClient>,
): () => Promise<Configuration> {
  let known: { readonly config: Promise<Configuration>; readonly until: number } | undefined;
  const read = async (): Promise<Configuration> => {
    const client = await load();
    const { issuer, client_id: id, clientSecret } = settings;
    const isPlain = issuer.startsWith('http:');
    const auth =
      clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret);
    const config = await client.discovery(new URL(issuer), id, undefined, auth, {
      [client.customFetch]: fetchThrough(guard),
      execute: isPlain
        ? [client.enableNonRepudiationChecks, client.allowInsecureRequests]
        : [client.enableNonRepudiationChecks],
    });
    return config;
  };
  return () => {
    if (known && known.until > clock.monotonic()) return known.config;
    const config = read();
    const mine = { config, until: clock.monotonic() + FRESH_MS };
    known = mine;
    config.catch(() => {
      if (known === mine) known = undefined;
    });
    return config;
  };
}

/** Sends through the client that everything outbound goes through, without redirects. */
function fetchThrough(guard: UrlGuard): CustomFetch {
  return async (url, { method, headers, body }) => {
    const answer = await guardedFetch(guard, url, {
      method: method as NonNullable<GuardedFetchOptions['method']>,
      headers,
      ...(body !== null && body !== undefined && { body: toBytes(body) }),
      maxBytes: MAX_ANSWER_BYTES,
      maxRedirects: 0,
    });
    const told = Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    );
    return new Response(answer.body.length > 0 ? new Uint8Array(answer.body) : null, {
      status: answer.status,
      headers: told,
    });
  };
}

function toBytes(body: unknown): Buffer | string {
  if (body instanceof URLSearchParams) return body.toString();
  return typeof body === 'string' ? body : Buffer.from(body as Uint8Array);
}

function claimsOf(claims: Claims | undefined): Claims {
  if (claims) return claims;
  throw new GatewayError('sso_unavailable', {
    message: 'the identity provider sent no ID token; let it give the scope openid to this client',
  });
}

/** Answer of the provider as a code: `access_denied`, `OAUTH_RESPONSE_BODY_ERROR` … */
function codeOf(error: unknown): unknown {
  const { error: told, code } = error as { error?: unknown; code?: unknown };
  return told ?? code;
}

function toRefusal(error: unknown, issuer: string): GatewayError {
  if (error instanceof GatewayError) return error;
  const told = codeOf(error);
  const word = typeof told === 'string' && /^\w{1,64}$/.test(told) ? ` (${told})` : '';
  if (DECLINED.has(told)) {
    const message = `the identity provider refused the sign-in${word}; begin again`;
    return new GatewayError('sso_refused', { message, cause: error });
  }
  const message = `the identity provider ${issuer} does not answer as it should${word}; try again, or look at server.sso and at the provider`;
  return new GatewayError('sso_unavailable', { message, cause: error });
}
