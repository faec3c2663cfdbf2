import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { once } from '../../core/lazy.ts';
import { ROLES, TAKEN_SCOPES, toScope } from '../../core/access.ts';
import { parseDuration } from '../../core/time/duration.ts';
import type { KeyHasher } from '../../core/seal.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Op } from '../../store/store.ts';
import { defineResource } from '../store/define-resource.ts';
import type { Body, State, Stored } from '../store/stored.ts';
import type {
  ActionInput,
  ActionOutcome,
  Creation,
  ResourceDefinition,
} from '../store/define-resource.ts';
import {
  duration,
  exactly,
  dollars,
  instant,
  labels,
  meaningless,
  name,
  owner,
  shownInstant,
  spendingLimit,
} from '../fields/fields.ts';
import { isOverlapping, readValues, rotated } from '../keys/key-values.ts';
import { parseFields } from '../fields/parse-body.ts';
import { sameJson } from '../fields/same-json.ts';
import { keyHashKey } from '../store/storage-keys.ts';

const DAY_MS = 86_400_000;
const DEFAULT_OVERLAP_MS = DAY_MS;
const MAX_OVERLAP_MS = 90 * DAY_MS;

const cap = (what: string) =>
  z.int().min(1).max(1_000_000_000).nullable().default(null).describe(what);

const keyValue = () =>
  z.string().regex(/^[\x21-\x7e]{16,512}$/, 'expected 16 to 512 visible characters');

const keyLimits = once(() =>
  exactly({
    conversation_spending: dollars
      .nullable()
      .default(null)
      .describe('USD that the calls of one conversation of the key may cost.'),
  })
    .prefault({})
    .describe('Bounds of what its calls have in common.'),
);

/** Label of the keys of subjects of a token issuer: its name. */
export const ISSUER_LABEL = 'gateway/jwt-issuer';

/** An API key of an organization (contract: API key). Revoked, never deleted. */
export const key: ResourceDefinition = defineResource('keys', {
  idPrefix: 'key',
  description: 'API keys of organizations.',
  fields: () =>
    z.object({
      name,
      organization: owner,
      value: keyValue()
        .optional()
        .describe('An existing key to import; default: a new one. Write-only.'),
      scopes: z
        .array(z.enum(TAKEN_SCOPES))
        .overwrite((scopes) => scopes.map(toScope))
        .nullable()
        .default(null)
        .describe('What it may be used for; null: everything but admin.'),
      role: z
        .enum(ROLES)
        .nullable()
        .default(null)
        .describe('Bounds what its scopes allow; null: they alone decide.'),
      spending_limit: spendingLimit,
      limits: keyLimits(),
      expires_at: instant.nullable().default(null).describe('From when on it is refused.'),
      rpm_cap: cap('Requests that it may make in any 60 seconds.'),
      tpm_cap: cap('Tokens that it may use in a minute of the clock, input and output.'),
      tpd_cap: cap('Tokens that it may use in a day (UTC), input and output.'),
      concurrency_cap: cap('Requests that it may have in flight at once.'),
      allowed_models: z
        .array(z.string().min(1).max(256))
        .max(256)
        .nullable()
        .default(null)
        .describe('Logical models that it may use; * stands for any characters.'),
      labels,
    }),
  secrets: ['value'],
  immutable: ['organization', 'value'],
  deletable: false,
  uses: { change: 'govern' },
  patch: refuseIssuedScopes,
  lifecycle: { removedBy: 'revoke', isGoneForEver: true, isIssued: true },
  filters: ['organization', 'enabled'],
  refs: ({ organization }) => [
    { kind: 'organization', target: String(organization), path: 'organization' },
  ],
  shown: () =>
    z.object({
      enabled: z.boolean(),
      hint: z.string(),
      expires_at: shownInstant,
      revoked_at: shownInstant,
      rotated_at: shownInstant,
      former_hint: z.string().nullable(),
      former_until: shownInstant,
    }),
  view: ({ state }) => {
    const { hint, rotated_at, former } = readValues(state);
    return {
      enabled: state['revoked_at'] === null,
      hint,
      revoked_at: state['revoked_at'],
      rotated_at,
      former_hint: former?.hint ?? null,
      former_until: former && new Date(Math.ceil(former.until)).toISOString(),
    };
  },
  transition: (stored, { enabled }, now) => {
    if (enabled !== undefined && typeof enabled !== 'boolean') {
      const message = 'enabled: expected true or false';
      throw new GatewayError('invalid_request', { message, param: 'enabled' });
    }
    if (enabled === false) return revoke(stored, now);
    if (enabled !== true || stored.state['revoked_at'] === null) return undefined;
    const message = 'a revoked key is never enabled again; create a new one';
    throw new GatewayError('conflict', { message, param: 'enabled', retry: false });
  },
  actions: {
    revoke: ({ stored, now }) => {
      const state = revoke(stored, now);
      return state && { state };
    },
  },
});

/** The tokens of a subject have the scopes that their issuer gives them; others would be kept for nothing. */
function refuseIssuedScopes({ spec }: Stored, patch: Body): Body {
  const issuer = spec.labels?.[ISSUER_LABEL];
  const isKept = patch['scopes'] === undefined || sameJson(patch['scopes'], spec['scopes']);
  if (issuer === undefined || isKept) return patch;
  const message = `scopes: are those of each token of the issuer ${issuer}; set role, allowed_models or limits here, or change server.jwt.issuers.${issuer}.roles`;
  throw new GatewayError('invalid_request', { message, param: 'scopes' });
}

/** Irreversible; a second time changes nothing. */
function revoke({ state }: Stored, now: string): State | undefined {
  return state['revoked_at'] === null ? { revoked_at: now } : undefined;
}

/** `sk-` and 32 random bytes in hexadecimal (contract: API key). */
export function newKeyValue(random: (size: number) => Buffer = randomBytes): string {
  return `sk-${random(32).toString('hex')}`;
}

/** The part of a key that may be shown: enough to tell keys apart, too little to use. */
export function keyHint(value: string): string {
  return value.length < 24 ? `${value.slice(0, 3)}…` : `${value.slice(0, 6)}…${value.slice(-4)}`;
}

/** Body of a rotation. `value`: the new one; default: one that the gateway makes. */
const rotationBody = once(() =>
  z.object({
    value: keyValue().optional(),
    overlap: duration
      .transform((text, context) => {
        const ms = parseDuration(text);
        return ms <= MAX_OVERLAP_MS ? ms : meaningless(context, 'expected at most 90d');
      })
      .default(DEFAULT_OVERLAP_MS),
    end: z.enum(['former', 'current']).optional(),
  }),
);

/** Stores keyed hashes in place of values; a value is in the answer that makes it and nowhere else. */
export function defineKey(hasher: KeyHasher): ResourceDefinition {
  const create: ResourceDefinition['create'] = ({ id, secrets }): Creation => {
    const value = secrets['value'] ?? newKeyValue();
    const [hash, ...former] = hasher.hashes(value);
    if (hash === undefined) throw new GatewayError('internal_error');
    return {
      state: { hint: keyHint(value), revoked_at: null, hash },
      ops: [
        { type: 'put', key: keyHashKey(hash), value: id, ifAbsent: true },
        ...former.map((old): Op => ({ type: 'check', key: keyHashKey(old), ifAbsent: true })),
      ],
      reveal: { value },
    };
  };
  const rotate = ({ stored, now, body }: ActionInput): ActionOutcome => {
    const {
      overlap: overlapMs,
      end,
      value: given,
    } = parseFields(rotationBody(), body) as z.infer<ReturnType<typeof rotationBody>>;
    const at = Date.parse(now);
    const values = readValues(stored.state);
    refuseRotation(stored, { now: at, mayEnd: end !== undefined || overlapMs === 0 });
    const value = given ?? newKeyValue();
    const [hash, ...older] = hasher.hashes(value);
    if (hash === undefined) throw new GatewayError('internal_error');
    const next = rotated(values, { hash, hint: keyHint(value), now: at, overlapMs, end });
    return {
      state: { ...next },
      ops: [
        { type: 'put', key: keyHashKey(hash), value: stored.id, ifAbsent: true },
        ...older.map((old): Op => ({ type: 'check', key: keyHashKey(old), ifAbsent: true })),
      ],
      reveal: { value },
    };
  };
  return { ...key, create, actions: { ...key.actions, rotate } };
}

/** Throws `conflict` for a key that is over, and for a rotation that would cut off a value unsaid. */
function refuseRotation(stored: Stored, { now, mayEnd }: { now: number; mayEnd: boolean }): void {
  const { state, spec } = stored;
  const refuse = (message: string, type: string) =>
    new GatewayError('conflict', { message, type, retry: false });
  if (state['revoked_at'] !== null) {
    throw refuse('a revoked key is never used again; create a new one', 'key_revoked');
  }
  const expires = spec['expires_at'];
  if (typeof expires === 'string' && Date.parse(expires) <= now) {
    throw refuse(`the key has expired at ${expires}; change expires_at first`, 'key_expired');
  }
  const values = readValues(state);
  if (mayEnd || !values.former || !isOverlapping(values, now)) return;
  const { hint, until } = values.former;
  const ends = new Date(Math.ceil(until)).toISOString();
  throw refuse(
    `the former value ${hint} of this key works until ${ends}, and a key has at most two values; say with end which of them ends now: former (${hint}) or current (${values.hint})`,
    'rotation_under_way',
  );
}
