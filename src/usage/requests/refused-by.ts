import type { LimitOwner, LimitReached, LimitUnit, TokenBound } from '../../core/errors.ts';
import { fromNanos } from '../../core/money.ts';

/** Row of a {@link LimitReached}, as the record of its request holds it; amounts in its unit. */
export type LimitRow = readonly [
  owner: LimitOwner,
  id: string,
  name: string | null,
  unit: LimitUnit,
  per: string | null,
  most: number,
  used: number,
  held: number,
  needed: number | null,
  /** Milliseconds since epoch. */
  freeAt: number | null,
  bound?: readonly [input: number, output: number, from: TokenBound['from']],
];

export function toLimitRow(limit: LimitReached): LimitRow {
  const { owner, id, name, unit, per, most, used, held, needed, freeAt, bound } = limit;
  const row = [owner, id, name, unit, per, most, used, held, needed, freeAt] as const;
  return bound ? [...row, [bound.input, bound.output, bound.from]] : row;
}

/** Limit that refused a request, as callers see it: money in decimal dollars, else a count. */
export interface RefusedBy {
  limit: LimitOwner;
  id: string;
  name: string | null;
  unit: LimitUnit;
  per: string | null;
  amount: string | number;
  spent: string | number;
  reserved: string | number;
  left: string | number;
  /** The most that the request could take; null where it was refused before that was known. */
  needed: string | number | null;
  /** Instant at which the limit begins again, or has room; null: not known, or never. */
  free_at: string | null;
  /** Tokens that were to be reserved, and where the number of output tokens comes from. */
  tokens?: { input: number; output: number; output_from: TokenBound['from'] };
  /** All of it in a sentence or two. */
  text: string;
}

export function toRefusedBy(row: LimitRow): RefusedBy {
  const [limit, id, name, unit, per, most, used, held, needed, freeAt, bound] = row;
  const show = unit === 'money' ? fromNanos : (amount: number): number => amount;
  const left = Math.max(0, most - used - held);
  const view: RefusedBy = {
    limit,
    id,
    name,
    unit,
    per,
    amount: show(most),
    spent: show(used),
    reserved: show(held),
    left: show(left),
    needed: needed === null ? null : show(needed),
    free_at: freeAt === null ? null : new Date(freeAt).toISOString(),
    text: '',
  };
  if (bound) view.tokens = { input: bound[0], output: bound[1], output_from: bound[2] };
  view.text = [reasonOf(view), boundOf(view.tokens), freeOf(view)].filter(Boolean).join(' ');
  return view;
}

const UNITS: Readonly<Record<LimitUnit, string>> = {
  money: 'USD',
  tokens: 'tokens',
  requests: 'requests',
  in_flight: 'requests in flight',
};

function reasonOf({ limit, name, unit, per, ...amounts }: RefusedBy): string {
  const { amount, spent, reserved, left, needed } = amounts;
  const whose = name === null ? `the ${limit}` : `the ${limit} ${name}`;
  const all = `${amount} ${UNITS[unit]}${per === null ? '' : (SPANS[per] ?? ` per ${per}`)}`;
  if (unit !== 'money' || needed === null)
    return `The limit of ${whose} is reached: ${spent} of ${all} ${unit === 'money' ? 'are spent' : 'are used'}.`;
  const rest = Number(reserved) > 0 ? `, ${reserved} reserved for calls under way` : '';
  return `The call did not fit the limit of ${whose}: it could cost ${needed} USD, and of ${all} ${left} are left (${spent} spent${rest}).`;
}

const SPANS: Readonly<Record<string, string>> = { lifetime: ' in all', minute: ' in a minute' };

function boundOf(tokens: RefusedBy['tokens']): string {
  if (!tokens) return '';
  const { input, output, output_from: from } = tokens;
  const kept = `${output} output tokens and ${input} of input were to be reserved`;
  if (from === 'request') return `As the request asks for, ${kept}.`;
  const cause =
    from === 'model' ? "the most that the model's entry allows" : "the gateway's default";
  return `The request names no limit of output tokens (such as max_tokens), so ${kept}: ${cause}.`;
}

function freeOf({ free_at: at, unit }: RefusedBy): string {
  if (unit === 'in_flight') return 'The next one fits when one of them ends.';
  if (at === null) return '';
  return unit === 'requests' ? `The next one fits at ${at}.` : `The limit begins again at ${at}.`;
}
