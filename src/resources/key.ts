import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { KeyHasher } from '../core/seal.ts';
import { GatewayError } from '../core/errors.ts';
import type { Op } from '../store/store.ts';
import { defineResource } from './define-resource.ts';
import type { Creation, ResourceDefinition, State, Stored } from './define-resource.ts';
import { instant, labels, name, owner, spendingLimit } from './fields.ts';
import { keyHashKey } from './storage-keys.ts';

export const SCOPES = [
  'inference',
  'models',
  'assets',
  'run',
  'agents',
  'sessions',
  'endpoints',
  'deployments',
  'credentials',
  'skills',
  'account',
  'admin',
] as const;

export type ScopeName = (typeof SCOPES)[number];

const cap = (what: string) =>
  z.int().min(1).max(1_000_000_000).nullable().default(null).describe(what);

/** An API key of an organization (contract: API key). Revoked, never deleted. */
export const key: ResourceDefinition = defineResource({
  kind: 'api_key',
  collection: 'keys',
  path: '/admin/v1/keys',
  idPrefix: 'key',
  description: 'API keys of organizations.',
  organizationScoped: true,
  fields: z.object({
    name,
    organization: owner,
    value: z
      .string()
      .regex(/^[\x21-\x7e]{16,512}$/, 'expected 16 to 512 visible characters')
      .optional()
      .describe('An existing key to import; default: a new one. Write-only.'),
    scopes: z
      .array(z.enum(SCOPES))
      .nullable()
      .default(null)
      .describe('What it may be used for; null: everything but admin.'),
    spending_limit: spendingLimit,
    expires_at: instant.nullable().default(null).describe('From when on it is refused.'),
    rpm_cap: cap('Requests that it may make in any 60 seconds.'),
    concurrency_cap: cap('Requests that it may have in flight at once.'),
    allowed_models: z
      .array(z.string().min(1).max(256))
      .max(256)
      .nullable()
      .default(null)
      .describe('Logical models that it may use; * stands for any characters.'),
    labels,
  }),
  aliases: {},
  secrets: ['value'],
  immutable: ['organization', 'value'],
  deletable: false,
  filters: ['organization', 'enabled'],
  refs: ({ organization }) => [
    { kind: 'organization', target: String(organization), path: 'organization' },
  ],
  view: ({ state }) => ({
    enabled: state['revoked_at'] === null,
    hint: state['hint'],
    revoked_at: state['revoked_at'],
  }),
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

/** Stores a keyed hash in place of the key; its value is in the create answer and nowhere else. */
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
  return { ...key, create };
}
