import type { Buffer } from 'node:buffer';
import type { Key } from '../../store/store.ts';
import { limitedScopes } from '../spend/payer.ts';
import type { LedgerCall } from '../ledger/ledger-call.ts';
import { toScope } from '../ledger/ledger-keys.ts';
import type { Scope, ScopeKind } from '../ledger/ledger-keys.ts';
import type { Caller } from '../rates/rate-shares.ts';
import type { EndRow, StartRow } from '../requests/request-row.ts';

/** Facts of a call that both of its lines carry. */
export interface JournalCall {
  readonly id: string;
  /** The most that it can cost, in nano-dollars. */
  readonly bound: number;
  /** The most tokens that it can use. */
  readonly tokens: number;
  /** Scopes whose spending limit applied to it. */
  readonly limited: readonly Scope[];
}

export interface BeginLine extends JournalCall {
  readonly type: 'begin';
  readonly start: StartRow;
  /** Estimate of an answer without output. */
  readonly input: number;
  readonly cost: number;
}

export interface EndLine extends JournalCall {
  readonly type: 'end';
  readonly record: EndRow;
}

export interface ClaimLine {
  readonly type: 'claim';
  readonly window: Key;
  readonly caller: Caller;
  /** Milliseconds since epoch. */
  readonly at: number;
}

export type JournalLine = BeginLine | EndLine | ClaimLine;

/** Separates the head of a line from its row; JSON text has none. */
const BREAK = '\t';
/** Tag of a JSON value in the store, so that the end of a line can be stored as it is. */
const TAG = 'j';
/** Bits for a limit of the key and of the organization, which the row names. */
const BITS: Partial<Record<ScopeKind, number>> = { key: 1, organization: 2 };

export function toBeginLine(call: LedgerCall): string {
  const { id, bound, estimate } = call.start;
  const { bits, others } = limitsOf(call);
  const head = ['b', id, bound, bits, estimate?.input ?? 0, estimate?.cost ?? 0, ...others];
  return `${JSON.stringify(head)}${BREAK}${JSON.stringify(call.startRow)}`;
}

/** The second part is the record as the store holds it. */
export function toEndLine(call: LedgerCall, record: EndRow): [head: string, record: string] {
  const { id, bound } = call.start;
  const { bits, others } = limitsOf(call);
  const head = ['e', id, bound, bits, ...(others.length > 0 ? [0, 0, ...others] : [])];
  return [`${JSON.stringify(head)}${BREAK}`, `${TAG}${JSON.stringify(record)}`];
}

export function toClaimLine(window: Key, { caller, at }: { caller: Caller; at: number }): string {
  return `${JSON.stringify(['c', caller, at])}${BREAK}${JSON.stringify(window)}`;
}

/** Reads a line of the functions above; its frame vouches for its form. */
export function fromLine(line: Buffer): JournalLine {
  const at = line.indexOf(BREAK);
  const head: unknown = JSON.parse(line.toString('utf8', 0, at));
  const text = line.toString('utf8', at + 1);
  return isClaim(head) ? toClaim(head, text) : toCall(head as CallHead, text);
}

type ClaimHead = readonly ['c', Caller, number];
type CallHead = readonly [
  'b' | 'e',
  id: string,
  bound: number,
  limits: number,
  input?: number,
  cost?: number,
  ...others: ScopeRow[],
];
/** The last member is present only where tokens are counted: the most that the call can use. */
type ScopeRow = readonly [kind: ScopeKind, id: string, tokens?: number];

function isClaim(head: unknown): head is ClaimHead {
  return Array.isArray(head) && head[0] === 'c';
}

function toClaim([, caller, at]: ClaimHead, text: string): ClaimLine {
  return { type: 'claim', window: JSON.parse(text), caller, at };
}

function toCall([type, id, bound, bits, input = 0, cost = 0, ...others]: CallHead, text: string) {
  const head = (start: StartRow): JournalCall => ({
    id,
    bound,
    tokens: Math.max(0, ...others.map(([, , tokens = 0]) => tokens)),
    limited: [...ownersIn(bits, start), ...others.map(([kind, own]) => toScope(kind, own))],
  });
  if (type === 'b') {
    const start = JSON.parse(text) as StartRow;
    const begin: BeginLine = { type: 'begin', ...head(start), start, input, cost };
    return begin;
  }
  const record = JSON.parse(text.slice(TAG.length)) as EndRow;
  const end: EndLine = { type: 'end', ...head(record[0]), record };
  return end;
}

function ownersIn(bits: number, [, organization, key]: StartRow): Scope[] {
  const owners: Scope[] = [
    { kind: 'key', id: key },
    { kind: 'organization', id: organization },
  ];
  return owners.filter(({ kind }) => (bits & (BITS[kind] ?? 0)) !== 0);
}

interface LimitsInLine {
  readonly bits: number;
  readonly others: readonly ScopeRow[];
}

const NO_LIMITS: LimitsInLine = { bits: 0, others: [] };

function limitsOf(call: LedgerCall): LimitsInLine {
  const scopes = limitedScopes(call);
  if (scopes.length === 0) return NO_LIMITS;
  return {
    bits: scopes.reduce((bits, { kind }) => bits | (BITS[kind] ?? 0), 0),
    others: scopes
      .filter(({ kind }) => BITS[kind] === undefined)
      .map(({ kind, id }) => (kind === 'tokens' ? [kind, id, call.start.tokens ?? 0] : [kind, id])),
  };
}
