import { createLocalJWKSet, errors } from 'jose';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import type { JwtIssuer } from '../../config/schema/jwt-schema.ts';
import { parseJsonObject } from '../../core/json/value.ts';
import type { Clock } from '../../core/time/clock.ts';

/** Reads a document of an issuer; rejects where it cannot be had. */
export type ReadDocument = (url: string) => Promise<string>;

export interface SigningKeysDeps {
  readonly clock: Clock;
  readonly read: ReadDocument;
  /** Receives the failure to read a set while a former one stays in use. */
  readonly onError: (error: unknown) => void;
}

/** Age from which on a set is read again, while it stays in use. */
const FRESH_MS = 10 * 60_000;
/** Minimum time between two reads, so that tokens with unknown keys cannot cause more. */
const COOLDOWN_MS = 30_000;

/** The public keys of an issuer: read when first needed, when they are old, and for an unknown `kid`. */
export class SigningKeys {
  readonly #issuer: JwtIssuer;
  readonly #deps: SigningKeysDeps;
  #set: JWTVerifyGetKey | undefined;
  #readAt = -Infinity;
  #triedAt = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(issuer: JwtIssuer, deps: SigningKeysDeps) {
    this.#issuer = issuer;
    this.#deps = deps;
  }

  /** Finds the key of a token. Rejects as `jose` does, or with what kept it from reading the first set. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (!this.#set) await this.#read();
    else if (this.#age() > FRESH_MS && this.#mayTry())
      this.#read().catch((error: unknown) => this.#deps.onError(error));
    try {
      return await this.#known(header, token);
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown;
      if (this.#reading) await this.#reading.catch(() => undefined);
      else if (this.#mayTry()) await this.#read();
      else throw thrown;
      return this.#known(header, token);
    }
  };

  #known: JWTVerifyGetKey = (header, token) => {
    if (!this.#set) throw new errors.JWKSNoMatchingKey();
    return this.#set(header, token);
  };

  #age(): number {
    return this.#deps.clock.monotonic() - this.#readAt;
  }

  #mayTry(): boolean {
    return this.#deps.clock.monotonic() - this.#triedAt >= COOLDOWN_MS;
  }

  /** Many who need it at once wait for one. */
  #read(): Promise<void> {
    return (this.#reading ??= this.#load().finally(() => (this.#reading = undefined)));
  }

  async #load(): Promise<void> {
    const { clock, read } = this.#deps;
    this.#triedAt = clock.monotonic();
    const uri = this.#issuer.jwks_uri ?? (await this.#discover());
    this.#set = toKeySet(await read(uri), uri);
    this.#readAt = clock.monotonic();
  }

  /** Reads where the keys are (OpenID Connect Discovery 1.0, 4). */
  async #discover(): Promise<string> {
    const { issuer } = this.#issuer;
    const base = issuer.replace(/\/$/, '');
    const found = parseJsonObject(
      await this.#deps.read(`${base}/.well-known/openid-configuration`),
    );
    const uri = found?.['jwks_uri'];
    if (found?.['issuer'] !== issuer || typeof uri !== 'string' || !/^https?:/.test(uri))
      throw new Error(`the OpenID configuration of ${issuer} is not its own`);
    return uri;
  }
}

/** Throws an `Error` for a text that is no key set: a fault of the issuer, not of the token. */
function toKeySet(text: string, uri: string): JWTVerifyGetKey {
  const set = parseJsonObject(text);
  if (!Array.isArray(set?.['keys'])) throw new Error(`${uri} answered with no key set`);
  try {
    return createLocalJWKSet(set as unknown as JSONWebKeySet);
  } catch (cause) {
    throw new Error(`${uri} answered with no key set`, { cause });
  }
}
