import type { Clock } from '../core/time/clock.ts';
import { correctDeadline, toDeadline } from '../core/time/deadline.ts';
import type { Sealer } from '../core/seal.ts';
import { StoreError } from '../store/store.ts';
import type { CommitResult, Entry, Key, Op, Store } from '../store/store.ts';
import { newSigningSecret } from './signature.ts';

/** A former secret continues to sign for so long, or until the next rotation. */
const OVERLAP_MS = 24 * 3_600_000;
const MAX_TRIES = 5;

interface SecretRow {
  readonly sealed: string;
  /** Milliseconds since epoch. */
  readonly at: number;
  readonly former: { readonly sealed: string; readonly until: number } | null;
}

/** Secret that a rotation gives out, once. */
export interface RotatedSecret {
  readonly secret: string;
  /** Milliseconds since epoch. */
  readonly at: number;
  /** Instant until which the former one signs, too; null when there was none. */
  readonly formerUntil: number | null;
}

/** The secret that signs an organization's webhooks (decisions: Webhook signing secret). */
export interface SigningSecrets {
  /** Secrets that sign now, the newest first. The first call makes one that is not shown. */
  current(organization: string): Promise<readonly string[]>;
  /** A new secret; the former one stays valid with it for a day. Durable when it resolves. */
  rotate(organization: string, commit?: Commit): Promise<RotatedSecret>;
}

/** Commits in place of the store, perhaps with further operations. */
type Commit = (ops: readonly Op[]) => Promise<CommitResult>;

export interface SigningSecretsOptions {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly clock: Clock;
}

/** Secrets lie sealed; all of this rejects with `StoreError`, or `SealError` without their master key. */
export function createSigningSecrets(options: SigningSecretsOptions): SigningSecrets {
  const { store, sealer, clock } = options;

  const read = (organization: string) => store.get<SecretRow>(keyOf(organization));

  /** Undefined when another process changed it first. */
  const replace = async (
    organization: string,
    commit: Commit = (ops) => store.commit(ops),
  ): Promise<RotatedSecret | undefined> => {
    const entry = await read(organization);
    const secret = newSigningSecret();
    const at = clock.now();
    const former = entry ? { sealed: entry.value.sealed, until: toDeadline(at, OVERLAP_MS) } : null;
    const value: SecretRow = { sealed: sealer.seal(secret, placeOf(organization)), at, former };
    const condition = entry ? { ifVersion: entry.version } : { ifAbsent: true as const };
    const { ok } = await commit([{ type: 'put', key: keyOf(organization), value, ...condition }]);
    return ok ? { secret, at, formerUntil: former && Math.ceil(former.until) } : undefined;
  };

  return {
    async current(organization) {
      let entry = await read(organization);
      if (!entry) {
        await replace(organization);
        entry = await read(organization);
      }
      if (!entry) throw new StoreError('unavailable', 'the signing secret was not kept');
      const { sealed, former } = await inTime(entry, options);
      const valid = former && former.until > clock.now() ? [sealed, former.sealed] : [sealed];
      return valid.map((one) => sealer.open(one, placeOf(organization)));
    },
    async rotate(organization, commit) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const rotated = await replace(organization, commit);
        if (rotated) return rotated;
      }
      throw new StoreError('unavailable', 'others kept rotating the signing secret');
    },
  };
}

/** The row, its former secret with its own length from now on when a clock that was ahead wrote it. */
async function inTime(
  { key, value, version }: Entry<SecretRow>,
  { store, clock }: SigningSecretsOptions,
): Promise<SecretRow> {
  const { former } = value;
  const until = former && correctDeadline(former.until, clock.now());
  if (!former || until === null || until === former.until) return value;
  const corrected: SecretRow = { ...value, former: { ...former, until } };
  await store.commit([{ type: 'put', key, value: corrected, ifVersion: version }]);
  return corrected;
}

const keyOf = (organization: string): Key => ['webhook-secret', organization];
const placeOf = (organization: string): string => `webhook-secret/${organization}`;
