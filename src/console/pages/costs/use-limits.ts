import { listAll, NO_ROWS } from '../../api/list-all.ts';
import type { Listed } from '../../api/list-all.ts';
import type { Page } from '../../api/views.ts';
import type { Api } from '../../api/call.ts';
import type { ApiPath } from '../../api/calls.ts';
import { useConsole } from '../../frame/state.ts';
import { useLoad } from '../../parts/load.ts';

type Window = 'lifetime' | 'month' | 'day';
type Amounts = Readonly<Partial<Record<Window, string | null>>>;

/** A budget with its spend. */
export interface Budget {
  readonly id: string;
  readonly name: string;
  readonly per: string;
  readonly amount: string;
  readonly spent: string;
  readonly enabled: boolean;
  /** Percents at which it raises alerts; absent from older gateways. */
  readonly alerts_at?: readonly number[];
  readonly resets_at: string | null;
}

/** Limits of the own organization and its budgets, and of whatever else the key may see. */
export interface Limits {
  /** Dollars that the own organization may spend, and has spent. */
  readonly own: { readonly limit: Amounts; readonly spent: Amounts };
  readonly budgets: readonly Budget[];
  /** Dollars of a month by the id of a key or an organization. */
  readonly ofMonth: ReadonlyMap<string, string>;
  /** True where there are more keys or organizations than those whose limits are known. */
  readonly isCut: boolean;
}

interface Limited {
  readonly id: string;
  readonly spending_limit: Amounts | null;
}

interface Balance {
  readonly windows: Readonly<Record<Window, { limit: string | null; spent: string }>>;
}

/** Loads the limits that costs are held against; undefined until they are known. */
export function useLimits(): { limits: Limits | undefined; error: unknown } {
  const { api, isAdmin, may, session } = useConsole();
  const organization = session.value?.organization.id ?? '';
  const { value, error } = useLoad(
    (signal) => {
      if (!isAdmin()) return ofOwn(api, signal);
      return ofPlatform(api, { organization, readsKeys: may('read') }, signal);
    },
    [organization],
  );
  return { limits: value.value, error: error.value };
}

interface Platform {
  organization: string;
  /** False for a role that reads only costs: then limits of keys and organizations stay unknown. */
  readsKeys: boolean;
}

async function ofPlatform(
  api: Api,
  { organization, readsKeys }: Platform,
  signal: AbortSignal,
): Promise<Limits> {
  const list = <Item>(path: ApiPath<'GET'>): Promise<Listed<Item>> =>
    listAll<Item>(api, path, { signal });
  const [keys, organizations, budgets, spending] = await Promise.all([
    readsKeys ? list<Limited>('/admin/v1/keys') : NO_ROWS,
    readsKeys ? list<Limited>('/admin/v1/organizations') : NO_ROWS,
    list<Budget>('/admin/v1/spending/budgets'),
    api.json<{ spent: Amounts }>('/admin/v1/spending', { query: { organization }, signal }),
  ]);
  const all = [...keys.rows, ...organizations.rows];
  return {
    own: {
      limit: organizations.rows.find(({ id }) => id === organization)?.spending_limit ?? {},
      spent: spending.spent,
    },
    budgets: budgets.rows,
    isCut: keys.isCut || organizations.isCut,
    ofMonth: new Map(
      all.flatMap(({ id, spending_limit: limit }) => (limit?.month ? [[id, limit.month]] : [])),
    ),
  };
}

async function ofOwn(api: Api, signal: AbortSignal): Promise<Limits> {
  const [{ windows }, budgets] = await Promise.all([
    api.json<Balance>('/v1/account/balance', { signal }),
    api.json<Page<Budget>>('/v1/account/budgets', { signal }),
  ]);
  const pick = (of: 'limit' | 'spent'): Amounts =>
    Object.fromEntries(Object.entries(windows).map(([name, one]) => [name, one[of]]));
  return {
    own: { limit: pick('limit'), spent: pick('spent') },
    budgets: budgets.data,
    isCut: false,
    ofMonth: new Map(),
  };
}
