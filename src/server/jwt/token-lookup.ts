import { createHash } from 'node:crypto';
import { decodeJwt, errors, jwtVerify } from 'jose';
import type { JwtIssuer } from '../../config/schema/jwt-schema.ts';
import type { KeyDirectory } from '../../resources/kinds/key-directory.ts';
import type { KeyFound } from '../../surfaces/gate.ts';
import type { Principal } from '../../usage/principal.ts';
import { SigningKeys } from './signing-keys.ts';
import type { SigningKeysDeps } from './signing-keys.ts';
import { ensureSubjectKey } from './subject-keys.ts';
import type { SubjectKeysDeps } from './subject-keys.ts';
import { readIdentity } from './token-identity.ts';

export interface TokenLookupDeps extends SigningKeysDeps, SubjectKeysDeps {
  readonly issuers: readonly JwtIssuer[];
  readonly keys: Pick<KeyDirectory, 'find'>;
}

/** A token whose signature was checked. */
interface Checked {
  /** Id of the key of its subject. */
  readonly key: string;
  readonly scopes: ReadonlySet<string>;
  /** Milliseconds since epoch. */
  readonly expiresAt: number;
  /** Instant from which it is checked again. */
  readonly until: number;
  principal: Principal | undefined;
  /** Source of the principal. */
  of: Principal | undefined;
}

interface Known {
  readonly issuer: JwtIssuer;
  readonly signing: SigningKeys;
}

/** Tokens that are remembered. */
const MAX_CHECKED = 10_000;
/** Signing keys that an issuer took back, and claims that it changed, count again so soon. */
const CHECKED_FOR_MS = 10 * 60_000;
/** Greatest difference, either way, between the clock of an issuer and this one. */
const TOLERANCE_S = 5;

/**
 * Finds the principals of tokens (RFC 7519). A token counts as the key of its subject, within its own
 * scopes; its faults are reported like those of a key.
 */
export class TokenLookup {
  readonly #deps: TokenLookupDeps;
  readonly #issuers: ReadonlyMap<string, Known>;
  readonly #checked = new Map<string, Checked>();
  readonly #underWay = new Map<string, Promise<KeyFound>>();

  constructor(deps: TokenLookupDeps) {
    this.#deps = deps;
    this.#issuers = new Map(
      deps.issuers.map((issuer) => [
        issuer.issuer,
        { issuer, signing: new SigningKeys(issuer, deps) },
      ]),
    );
  }

  /** Rejects with what kept it from looking. */
  find(token: string): KeyFound | Promise<KeyFound> {
    const digest = createHash('sha256').update(token).digest('base64');
    const known = this.#checked.get(digest);
    if (known && known.until > this.#deps.clock.monotonic()) return this.#stateOf(known);
    this.#checked.delete(digest);
    const checking =
      this.#underWay.get(digest) ??
      this.#check(token, digest).finally(() => this.#underWay.delete(digest));
    this.#underWay.set(digest, checking);
    return checking;
  }

  #stateOf(known: Checked): KeyFound {
    const { clock, keys } = this.#deps;
    if (known.expiresAt + TOLERANCE_S * 1_000 <= clock.now()) return 'expired';
    const found = keys.find(known.key);
    if (typeof found === 'string') return found;
    if (known.of !== found || !known.principal) {
      known.of = found;
      known.principal = { ...found, scopes: known.scopes };
    }
    return known.principal;
  }

  async #check(token: string, digest: string): Promise<KeyFound> {
    const { clock } = this.#deps;
    const known = this.#issuers.get(issuerOf(token) ?? '');
    if (!known) return 'unknown';
    const { issuer, signing } = known;
    const options = {
      issuer: issuer.issuer,
      audience: issuer.audience,
      algorithms: issuer.algorithms,
      clockTolerance: TOLERANCE_S,
      currentDate: new Date(clock.now()),
      requiredClaims: ['exp'],
    };
    const verified = await jwtVerify(token, signing.find, options).catch(refusalOf);
    if (typeof verified === 'string') return verified;
    const { payload } = verified;
    const identity = readIdentity(payload, issuer);
    const key = identity && (await ensureSubjectKey(issuer, identity, this.#deps));
    if (key === undefined) return 'unknown';
    const fresh: Checked = {
      key,
      scopes: new Set(identity?.scopes),
      expiresAt: Number(payload.exp) * 1_000,
      until: clock.monotonic() + CHECKED_FOR_MS,
      principal: undefined,
      of: undefined,
    };
    this.#keep(digest, fresh);
    return this.#stateOf(fresh);
  }

  #keep(digest: string, fresh: Checked): void {
    const [oldest] = this.#checked.keys();
    if (oldest !== undefined && this.#checked.size >= MAX_CHECKED) this.#checked.delete(oldest);
    this.#checked.set(digest, fresh);
  }
}

function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

/** Throws errors that are not about the token: keys that could not be read. */
function refusalOf(thrown: unknown): 'expired' | 'unknown' {
  if (thrown instanceof errors.JWTExpired) return 'expired';
  if (thrown instanceof errors.JOSEError) return 'unknown';
  throw thrown;
}
