import { allows } from '../../core/access.ts';
import { GatewayError } from '../../core/errors.ts';
import type {
  ErrorCode,
  GatewayErrorOptions,
  LimitOwner,
  LimitReached,
} from '../../core/errors.ts';
import { fromNanos } from '../../core/money.ts';
import { percentEncode } from '../../core/printable.ts';
import { tokensFreeAt } from '../budgets/token-caps.ts';
import type { Principal } from '../principal.ts';
import type { Payer } from './payer.ts';
import { DAY_MS, tightestOf } from './spend.ts';
import type { SpendOf, Windows } from './spend.ts';

/** A call that does not fit a limit. */
interface Refused {
  readonly principal: Principal;
  /** Milliseconds since epoch. */
  readonly at: number;
  readonly windows: Windows;
  /** Null: its model is not known yet. */
  readonly bound: number | null;
}

/** Name of the header that names the limit of money which a request did not fit (docs/operations.md). */
const LIMIT_HEADER = 'x-gateway-limit';

const NOTHING: SpendOf = () => ({ settled: 0, reserved: 0 });

/** Error of a call that does not fit the limit of a payer, whose spend it was decided by. */
export function refuse(payer: Payer, call: Refused, spendOf: SpendOf = NOTHING): GatewayError {
  const limit = limitOf(payer, call, spendOf);
  return new GatewayError(payer.refusal, namesLimit(payer.refusal, limit, call.principal));
}

/** The limit for the record of a request, and a header that names it as far as the key may see it. */
export function namesLimit(
  code: ErrorCode,
  limit: LimitReached,
  principal: Principal,
): Pick<GatewayErrorOptions, 'limit' | 'headers'> {
  if (limit.unit !== 'money') return { limit };
  return { limit, headers: { [LIMIT_HEADER]: toHeader(code, limit, principal) } };
}

function limitOf(
  { scope, limits = {}, budget }: Payer,
  { principal, at, windows, bound }: Refused,
  spendOf: SpendOf,
): LimitReached {
  const { per, most, settled: used, reserved: held } = tightestOf(limits, windows, spendOf);
  const amounts = { most, used, held, needed: bound };
  const { kind, id } = scope;
  if (budget) {
    const { to } = budget.windowAt(at);
    const freeAt = Number.isFinite(to) ? to : null;
    const { name, per: period } = budget;
    return { owner: 'budget', id: budget.id, name, unit: 'money', per: period, ...amounts, freeAt };
  }
  const ofKey = { owner: 'key', id: principal.keyId, name: principal.keyName } as const;
  if (kind === 'tokens') {
    const free = tokensFreeAt(scope);
    // How many tokens a call takes is known too roughly to refuse one by it.
    return { ...ofKey, unit: 'tokens', ...amounts, needed: null, ...free };
  }
  const freeAt = freeOf(per, windows);
  if (kind === 'key') return { ...ofKey, unit: 'money', per, ...amounts, freeAt };
  const owner = kind as LimitOwner;
  return { owner, id, name: null, unit: 'money', per, ...amounts, freeAt };
}

/** First instant of the next window, UTC; null for a lifetime. */
function freeOf(per: 'lifetime' | 'day' | 'month', { day }: Windows): number | null {
  if (per === 'lifetime') return null;
  if (per === 'day') return Date.parse(day) + DAY_MS;
  const [year, month] = day.split('-').map(Number);
  return Date.UTC(year ?? 0, month ?? 1, 1);
}

/**
 * `budget; name="blue"; per=month; needed="0.25"; output-tokens=16384; by=default`. Only a key that may read
 * budgets and balance learns more of the owner than the text of the error says; the rest of a limit is in none.
 */
function toHeader(code: ErrorCode, limit: LimitReached, principal: Principal): string {
  const { owner, name, per, needed, bound } = limit;
  const isOpen = mayReadLimits(principal);
  const said = code === 'key_spending_limit' ? 'key' : 'organization';
  const parts = [
    isOpen ? owner : said,
    isOpen && name !== null ? `name="${percentEncode(name)}"` : '',
    isOpen ? `per=${per}` : '',
    needed === null ? '' : `needed="${fromNanos(needed)}"`,
    bound ? `output-tokens=${bound.output}; by=${bound.from}` : '',
  ];
  return parts.filter(Boolean).join('; ');
}

/** True for a key that reads the same under `/v1/account`. */
function mayReadLimits({ scopes, role }: Principal): boolean {
  const isInScope = scopes === null || scopes.has('account') || scopes.has('admin');
  return isInScope && allows(role, 'costs');
}
