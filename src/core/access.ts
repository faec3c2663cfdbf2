/** Parts of the API that a key can be limited to. */
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

/** Words that are taken for scopes; answers have the names of the contract. */
export const SCOPE_WORDS = {
  services: 'endpoints',
  schedules: 'deployments',
} as const satisfies Readonly<Record<string, ScopeName>>;

type ScopeWord = keyof typeof SCOPE_WORDS;

/** Every word for a scope that files, bodies and flags may have. */
export const TAKEN_SCOPES = [...SCOPES, ...(Object.keys(SCOPE_WORDS) as ScopeWord[])] as const;

/** The name of the scope that a word means; any other word as it is. */
export function toScope<Word extends string>(
  word: Word,
): Exclude<Word, ScopeWord> | (typeof SCOPE_WORDS)[ScopeWord] {
  return Object.hasOwn(SCOPE_WORDS, word)
    ? SCOPE_WORDS[word as Word & ScopeWord]
    : (word as Exclude<Word, ScopeWord>);
}

/** Roles that a key can have in addition to its scopes. */
export const ROLES = ['admin', 'operator', 'billing', 'viewer'] as const;

export type Role = (typeof ROLES)[number];

/** Kinds of calls that roles tell apart, with their calls, as docs/teams.md shows them. */
export const USES = {
  self: 'who the key is; signing in to the console',
  costs: 'reading usage, spending, balance, limits and budgets',
  read: 'reading everything else, without what was said and without secrets',
  content:
    'reading what was said: events of Sessions, results, files, media, kept content of requests',
  call: 'calling models, APIs, Services; running Schedules; sending to Sessions',
  write: 'making, changing and removing resources',
  govern:
    'making and changing keys with their roles, budgets, organizations and the configuration as a whole',
} as const;

/** Purpose of a call. */
export type Use = keyof typeof USES;

const ALLOWED: Readonly<Record<Role, ReadonlySet<Use>>> = {
  admin: new Set(Object.keys(USES) as Use[]),
  operator: new Set<Use>(['self', 'costs', 'read', 'content', 'call', 'write']),
  billing: new Set<Use>(['self', 'costs']),
  viewer: new Set<Use>(['self', 'costs', 'read']),
};

/** True where a role allows a use. A key without a role is bounded only by its scopes. */
export function allows(role: Role | null | undefined, use: Use): boolean {
  return role === null || role === undefined || ALLOWED[role].has(use);
}

/** Rights of a key at one time, as they are stored. */
export interface Rights {
  /** Null: every scope but `admin`. */
  readonly scopes: readonly string[] | null;
  readonly role: Role | null;
}

/** True where one allows all that the other does. */
export function covers(one: Rights, other: Rights): boolean {
  const has = new Set(scopesOf(one));
  const uses = Object.keys(USES) as Use[];
  return (
    scopesOf(other).every((scope) => has.has(scope)) &&
    uses.every((use) => allows(one.role, use) || !allows(other.role, use))
  );
}

function scopesOf({ scopes }: Rights): readonly string[] {
  return scopes ?? SCOPES.filter((scope) => scope !== 'admin');
}

/** State of an API key for people: what its holder meets at a time. */
export type KeyState = 'active' | 'expired' | 'revoked' | 'disabled';

/** The state of a key's view at a time in milliseconds since epoch; `disabled` where its organization is. */
export function keyState(
  key: { readonly [member: string]: unknown },
  now: number,
  isOwnerEnabled = true,
): KeyState {
  const { revoked_at: revoked, expires_at: expires, enabled } = key;
  if (typeof revoked === 'string') return 'revoked';
  if (typeof expires === 'string' && Date.parse(expires) <= now) return 'expired';
  return enabled === false || !isOwnerEnabled ? 'disabled' : 'active';
}
