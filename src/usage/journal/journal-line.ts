import type { Buffer } from 'node:buffer';
import type { Key } from '../../store/store.ts';
import type { LedgerCall } from '../ledger/ledger-call.ts';
import type { Caller } from '../rates/limiter.ts';
import type { EndRow, StartRow } from '../requests/request-row.ts';

/** Facts of a call that both of its lines carry. */
export interface JournalCall {
  readonly id: string;
  /** The most that it can cost, in nano-dollars. */
  readonly bound: number;
  /** Whether a spending limit applied to its key, and to its organization. */
  readonly isKeyLimited: boolean;
  readonly isOrganizationLimited: boolean;
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

/** Stands between the head of a line and its row; JSON text has none. */
const BREAK = '\t';
/** Tag of a JSON value in the store, so that the end of a line can be stored as it is. */
const TAG = 'j';
const KEY_LIMITED = 1;
const ORGANIZATION_LIMITED = 2;

export function toBeginLine(call: LedgerCall): string {
  const { id, bound, estimate } = call.start;
  const head = ['b', id, bound, limitsOf(call), estimate?.input ?? 0, estimate?.cost ?? 0];
  return `${JSON.stringify(head)}${BREAK}${JSON.stringify(call.startRow)}`;
}

export function toEndLine(call: LedgerCall, record: EndRow): string {
  const { id, bound } = call.start;
  return `${JSON.stringify(['e', id, bound, limitsOf(call)])}${BREAK}${TAG}${JSON.stringify(record)}`;
}

export function toClaimLine(window: Key, { caller, at }: { caller: Caller; at: number }): string {
  return `${JSON.stringify(['c', caller, at])}${BREAK}${JSON.stringify(window)}`;
}

/** The record in an end line as the store holds it. */
export function recordIn(line: Buffer): Buffer {
  return line.subarray(line.indexOf(BREAK) + 1);
}

/** Reads a line of the functions above; its frame vouches for its form. */
export function fromLine(line: Buffer): JournalLine {
  const at = line.indexOf(BREAK);
  const head: unknown = JSON.parse(line.toString('utf8', 0, at));
  const text = line.toString('utf8', at + 1);
  return isClaim(head) ? toClaim(head, text) : toCall(head as CallHead, text);
}

type ClaimHead = readonly ['c', Caller, number];
type CallHead = readonly ['b' | 'e', string, number, number, number?, number?];

function isClaim(head: unknown): head is ClaimHead {
  return Array.isArray(head) && head[0] === 'c';
}

function toClaim([, caller, at]: ClaimHead, text: string): ClaimLine {
  return { type: 'claim', window: JSON.parse(text), caller, at };
}

function toCall([type, id, bound, limits, input = 0, cost = 0]: CallHead, text: string) {
  const isKeyLimited = (limits & KEY_LIMITED) !== 0;
  const isOrganizationLimited = (limits & ORGANIZATION_LIMITED) !== 0;
  const call: JournalCall = { id, bound, isKeyLimited, isOrganizationLimited };
  if (type === 'b') {
    const begin: BeginLine = { type: 'begin', ...call, start: JSON.parse(text), input, cost };
    return begin;
  }
  const end: EndLine = { type: 'end', ...call, record: JSON.parse(text.slice(TAG.length)) };
  return end;
}

function limitsOf({ key, organization }: LedgerCall): number {
  return (key.limits ? KEY_LIMITED : 0) | (organization.limits ? ORGANIZATION_LIMITED : 0);
}
