import type { JwtIssuer } from '../../config/schema/jwt-schema.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { fromNanos, toNanos } from '../../core/money.ts';

/** Claims of a token whose signature, issuer, audience and times are right. */
export type Claims = Readonly<Record<string, unknown>>;

/** Subject of a token, and its rights. */
export interface TokenIdentity {
  readonly subject: string;
  /** Id or name. */
  readonly organization: string;
  readonly scopes: readonly string[];
  /** Members of the subject's key; only those that the issuer's settings take from claims. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Scopes of a token where its issuer declares no roles. */
export const STANDARD_SCOPES: readonly string[] = ['inference', 'models'];

const CAPS = ['rpm_cap', 'tpm_cap', 'tpd_cap', 'concurrency_cap'] as const;
const SPENDING = { day: 'spending_day', month: 'spending_month' } as const;

/** Longest subject: the name of its key holds it. */
const MAX_SUBJECT_LENGTH = 180;
/** Longest value of a label. */
const MAX_LABEL_LENGTH = 512;

/** Reads the claims of an issuer about a subject; undefined where one is absent or malformed. */
export function readIdentity(claims: Claims, issuer: JwtIssuer): TokenIdentity | undefined {
  const subject = textAt(claims, issuer.subject);
  const organization =
    issuer.organization ??
    (issuer.organization_claim === null ? undefined : textAt(claims, issuer.organization_claim));
  const limits = readLimits(claims, issuer);
  const labels = readLabels(claims, issuer);
  if (subject === undefined || organization === undefined || !limits || !labels) return undefined;
  if (subject.length > MAX_SUBJECT_LENGTH || /\p{Cc}/u.test(subject)) return undefined;
  const isLabelled = Object.keys(issuer.labels).length > 0;
  const fields = { ...limits, ...(isLabelled && { labels }) };
  return { subject, organization, scopes: readScopes(claims, issuer), fields };
}

function readScopes(claims: Claims, { roles }: JwtIssuer): readonly string[] {
  if (!roles) return STANDARD_SCOPES;
  const held = [claimAt(claims, roles.claim)].flat();
  return [
    ...new Set(
      held.flatMap((role) =>
        typeof role === 'string' && Object.hasOwn(roles.scopes, role)
          ? (roles.scopes[role] ?? [])
          : [],
      ),
    ),
  ];
}

/** Undefined for a claim that is no plain value: budgets by that label would not hold its calls. */
function readLabels(
  claims: Claims,
  issuer: Pick<JwtIssuer, 'labels'>,
): Readonly<Record<string, string>> | undefined {
  const labels: Record<string, string> = {};
  for (const [label, claim] of Object.entries(issuer.labels)) {
    const value = claimAt(claims, claim);
    if (value === undefined || value === null) continue;
    const text = plainText(value);
    if (text === undefined || text.length > MAX_LABEL_LENGTH) return undefined;
    labels[label] = text;
  }
  return labels;
}

function plainText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Undefined for a claim that is no positive number: a limit must not be lifted by a slip. */
function readLimits(
  claims: Claims,
  { limits }: JwtIssuer,
): Readonly<Record<string, unknown>> | undefined {
  const fields: Record<string, unknown> = {};
  for (const name of CAPS) {
    const declared = limits[name];
    if (!declared) continue;
    const value = leastOf(claims, { ...declared, read: Number });
    if (value === undefined) return undefined;
    fields[name] = value && Math.max(1, Math.floor(value));
  }
  const windows: Record<string, string> = {};
  for (const [window, name] of Object.entries(SPENDING)) {
    const declared = limits[name];
    if (!declared) continue;
    const value = leastOf(claims, { ...declared, read: toNanos });
    if (value === undefined) return undefined;
    if (value !== null) windows[window] = fromNanos(value);
  }
  const isSpending = Object.values(SPENDING).some((name) => limits[name]);
  return isSpending
    ? { ...fields, spending_limit: Object.keys(windows).length > 0 ? windows : null }
    : fields;
}

interface Bounded {
  readonly claim: string | null;
  readonly most: number | string | null;
  readonly read: (value: string | number) => number;
}

/** Null: no bound. Undefined for a claim that says no amount. */
function leastOf(claims: Claims, { claim, most, read }: Bounded): number | null | undefined {
  const bound = most === null ? null : read(most);
  const told = claim === null ? undefined : claimAt(claims, claim);
  if (told === undefined || told === null) return bound;
  if (typeof told !== 'number' && typeof told !== 'string') return undefined;
  const value = amountOf(() => read(told));
  if (value === undefined || !Number.isFinite(value) || value <= 0) return undefined;
  return bound === null ? value : Math.min(value, bound);
}

function amountOf(read: () => number): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function textAt(claims: Claims, name: string): string | undefined {
  const value = claimAt(claims, name);
  // Names are trimmed, and two subjects must not become one.
  return typeof value === 'string' && value !== '' && value.trim() === value ? value : undefined;
}

/** A claim by its name, which may have dots, or by its path (`realm_access.roles`). */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const step of name.split('.'))
    value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}
