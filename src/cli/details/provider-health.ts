import { isRecord } from '../../client/http/guards.ts';
import type { GatewayStatus } from '../../client/operators.ts';
import type { Client } from '../../client/create-client.ts';
import { ClientError } from '../../client/http/client-error.ts';

type RouteStatus = GatewayStatus['providers'][number]['routes'][number];

/** Health of a provider, as the process that answered sees it; all share who is left out. */
export interface ProviderHealth {
  readonly state: 'available' | 'partly' | 'left_out';
  /** Latest end, RFC 3339; null where nothing is left out for a time. */
  readonly until: string | null;
  readonly routes: readonly RouteStatus[];
}

function toHealth(routes: readonly RouteStatus[]): ProviderHealth {
  const out = routes.filter(({ state }) => state !== 'available');
  const ends = out.map(({ until }) => until).filter((until) => typeof until === 'string');
  const isWhole = out.length === routes.length;
  return {
    state: out.length === 0 ? 'available' : isWhole ? 'left_out' : 'partly',
    until: ends.toSorted().at(-1) ?? null,
    routes,
  };
}

/** Adds `health` to providers: null without routes, and for a key that may not read the state. */
export async function addHealth<P extends { readonly name?: unknown }>(
  client: Client,
  providers: readonly P[],
  signal: AbortSignal,
): Promise<(P & { health: ProviderHealth | null })[]> {
  const status = await client.operators.status(signal).catch((thrown: unknown) => {
    if (thrown instanceof ClientError && !signal.aborted) return undefined;
    throw thrown;
  });
  return providers.map((one) => {
    const found = status?.providers.find(({ name }) => name === one.name);
    return { ...one, health: found ? toHealth(found.routes) : null };
  });
}

/** `available`, `1 of 3 routes left out until …`; null where nothing is known. */
export function healthText(health: unknown): string | null {
  if (!isRecord(health) || !Array.isArray(health['routes'])) return null;
  return routesText(health['routes'] as readonly RouteStatus[]);
}

export function routesText(routes: readonly RouteStatus[]): string {
  const { state, until } = toHealth(routes);
  const faults = Math.max(0, ...routes.map((one) => Number(one['consecutive_faults']) || 0));
  if (state === 'available')
    return faults === 0 ? 'available' : `available, ${faults} failures in a row`;
  const out = routes.filter((one) => one['state'] !== 'available').length;
  const what = state === 'partly' ? `${out} of ${routes.length} routes left out` : 'left out';
  return until === null ? `${what}, on trial` : `${what} until ${until.replace(/\.\d+Z$/, 'Z')}`;
}
