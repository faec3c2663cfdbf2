import type { Op, Store } from '../store/store.ts';
import type { Alert } from './alert.ts';

const MOST = 1_000;

/** Row of `cooldown, name`, which all processes share. */
interface CooldownRow {
  readonly until: number;
  readonly openings: number;
}

interface OutageRow {
  readonly since: number;
}

export interface OutageAlertsOptions {
  readonly store: Store;
  /** Name of a provider by its id. */
  nameOf(provider: string): Promise<string>;
  /** Organization whose secret signs alerts of the platform. */
  home(): Promise<string>;
  toRaise(alert: Alert): Op[];
}

/**
 * Raises an alert for each breaker that has opened and for each that has closed since. An outage is a row
 * of its own, which changes in the commit of its alert. Rejects with `StoreError`.
 */
export async function raiseOutages(options: OutageAlertsOptions, at: number): Promise<void> {
  const { store } = options;
  const cooled = await store.list<CooldownRow>({ prefix: ['cooldown'], limit: MOST });
  const known = await store.list<OutageRow>({ prefix: ['outage'], limit: MOST });
  const out = new Set(known.map(({ key }) => String(key[1])));
  const down = new Set(cooled.map(({ key }) => String(key[1])));
  for (const { key, value } of cooled) {
    const name = String(key[1]);
    if (out.has(name) || !isOutage(name, value, at)) continue;
    const put: Op = { type: 'put', key: ['outage', name], value: { since: at }, ifAbsent: true };
    const alert = await toAlert(options, { name, since: at, at, isOver: false });
    await store.commit([put, ...options.toRaise(alert)]);
  }
  for (const { key, value, version } of known) {
    const name = String(key[1]);
    if (down.has(name)) continue;
    const alert = await toAlert(options, { name, since: value.since, at, isOver: true });
    await store.commit([{ type: 'delete', key, ifVersion: version }, ...options.toRaise(alert)]);
  }
}

/** A route that only has to wait (429) is none; an account whose credential is refused is one. */
function isOutage(name: string, { until, openings }: CooldownRow, at: number): boolean {
  return until > at && (openings > 0 || !name.includes('\n'));
}

interface Change extends OutageRow {
  readonly name: string;
  readonly at: number;
  readonly isOver: boolean;
}

async function toAlert(
  { nameOf, home }: OutageAlertsOptions,
  { name, since, at, isOver }: Change,
): Promise<Alert> {
  const [id = '', model = null] = name.split('\n');
  const provider = await nameOf(id);
  const what = model === null ? `Provider ${provider}` : `Provider ${provider}, model ${model}`;
  return {
    id: `outage/${id}/${model ?? ''}/${since}/${isOver ? 'over' : 'begun'}`,
    type: isOver ? 'alert.recovery' : 'alert.outage',
    organization: await home(),
    at,
    text: isOver ? `${what}: serves again` : `${what}: fails and is left out`,
    data: { provider, model, since: new Date(since).toISOString() },
  };
}
