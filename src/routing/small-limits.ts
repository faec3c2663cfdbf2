import type { ModelType } from '../core/model-type.ts';
import { fromNanos, toNanos } from '../core/money.ts';
import type { Dollars } from '../core/money.ts';
import { boundOf } from '../usage/spend/pricing.ts';
import type { Pricing } from '../usage/usage.ts';
import type { Catalog } from './catalog.ts';
import { matchesModel } from './model-patterns.ts';

/** A model as far as it says how much a call reserves. */
export interface ReservingModel {
  readonly id: string;
  readonly type: ModelType;
  readonly maxOutputTokens?: number | undefined;
  readonly routes: readonly { readonly pricing: Pricing }[];
}

/** The least that a limit holds for a call that names no limit of output tokens. */
export interface Reservation {
  readonly model: string;
  readonly outputTokens: number;
  /** Nano-dollars. */
  readonly cost: number;
}

/**
 * Reservations of models, the dearest first; models without a price reserve nothing.
 *
 * @param usual output tokens of a model without a maximum (`server.limits.output_tokens_bound`)
 */
export function reservationsOf(models: Iterable<ReservingModel>, usual: number): Reservation[] {
  const all = Array.from(models, (model) => toReservation(model, usual));
  return all.sort((one, other) => other.cost - one.cost);
}

function toReservation(
  { id, type, maxOutputTokens, routes }: ReservingModel,
  usual: number,
): Reservation {
  const outputTokens = type === 'llm' ? (maxOutputTokens ?? usual) : 0;
  const most = { inputBound: 0, outputBound: outputTokens, images: type === 'image' ? 1 : 0 };
  const costs = routes.map(({ pricing }) => boundOf({ ...most, pricing }));
  return { model: id, outputTokens, cost: Math.max(0, ...costs) };
}

/** Object with a limit of money, as its file or its resource has it. */
export type Limiting = Readonly<Record<string, unknown>>;

/** Kinds with limits of money, by their collections; gives the limits and the models that they hold. */
const LIMITS: Readonly<Record<string, (object: Limiting) => Held>> = {
  keys: ({ spending_limit: spending, limits, allowed_models: models }) => ({
    amounts: [
      ...amountsIn('spending_limit', spending),
      ...amountsIn('limits', limits).filter(([name]) => name.endsWith('conversation_spending')),
    ],
    models,
  }),
  organizations: ({ spending_limit: spending }) => ({
    amounts: amountsIn('spending_limit', spending),
    models: null,
  }),
  budgets: ({ amount, match, on_exceed: exceed = 'refuse', enabled }) => ({
    amounts: enabled === false || exceed !== 'refuse' ? [] : amountsIn('amount', amount),
    models: (match as Limiting | undefined)?.['models'],
  }),
};

interface Held {
  readonly amounts: readonly Amount[];
  /** Patterns; absent or null: all models. */
  readonly models: unknown;
}

type Amount = readonly [path: string, dollars: Dollars];

/** A limit that refuses the first call of a model. */
export interface SmallLimit {
  /** Path of the limit in its object: `spending_limit.day`. */
  readonly path: string;
  /** One line for people, without the path. */
  readonly text: string;
}

/**
 * Finds the smallest limit of an object where it is less than the reservation of one call of a model that it
 * holds. A limit of 0 is meant to refuse.
 *
 * @param reservations those of {@link reservationsOf}, asked for where there is a limit
 */
export function findSmallLimit(
  collection: string,
  object: Limiting,
  reservations: () => readonly Reservation[],
): SmallLimit | undefined {
  const { amounts, models } = LIMITS[collection]?.(object) ?? { amounts: [], models: null };
  const limits = amounts.map(([path, dollars]) => ({ path, most: toNanos(dollars) }));
  const [least] = limits.sort((one, other) => one.most - other.most);
  if (!least || least.most === 0) return undefined;
  const dearer = reservations().filter(({ cost }) => cost > least.most);
  const held = dearer.filter(({ model }) => !Array.isArray(models) || matchesModel(models, model));
  const [dearest] = held;
  return dearest && { path: least.path, text: textOf(least.most, dearest, held.length - 1) };
}

function textOf(most: number, { model, outputTokens, cost }: Reservation, others: number): string {
  const more = others === 0 ? '' : `, nor of ${others} other ${others === 1 ? 'model' : 'models'}`;
  const cause =
    outputTokens === 0
      ? `it reserves ${fromNanos(cost)} USD`
      : `without max_tokens it reserves ${outputTokens} output tokens, ${fromNanos(cost)} USD`;
  return `${fromNanos(most)} USD cannot pay for one call of ${model}${more}; ${cause}, and is refused with nothing spent`;
}

/** Next step for a small limit. */
export const SMALL_LIMIT_HINT =
  'raise the limit, let clients send max_tokens, or set max_output_tokens on the model';

/**
 * Judges objects that were made or changed by the models that are served now. The reservations of a catalog are
 * found once.
 *
 * @param usual as in {@link reservationsOf}
 */
export function createLimitWarnings(
  catalog: () => Catalog,
  usual: number,
): (collection: string, object: object | undefined) => string[] {
  const known = new WeakMap<Catalog, Reservation[]>();
  const reservations = (): Reservation[] => {
    const now = catalog();
    const found = known.get(now) ?? reservationsOf(now.models.values(), usual);
    known.set(now, found);
    return found;
  };
  return (collection, object = {}) => {
    const found = findSmallLimit(collection, { ...object }, reservations);
    return found ? [`${found.path}: ${found.text}; ${SMALL_LIMIT_HINT}`] : [];
  };
}

/** An amount, or amounts by window; null and absent ones are none. */
function amountsIn(path: string, declared: unknown): Amount[] {
  if (typeof declared === 'string' || typeof declared === 'number') return [[path, declared]];
  return Object.entries((declared ?? {}) as Record<string, Dollars | null>).flatMap(
    ([window, amount]) => (amount === null ? [] : [[`${path}.${window}`, amount] as const]),
  );
}
