import leven from 'leven';
import { GatewayError } from '../../core/errors.ts';
import type { WireProtocol } from '../../protocols/protocol.ts';
import type { Catalog } from '../../routing/catalog.ts';
import { explainPlan } from '../../routing/explain-plan.ts';
import type { PlanExplanation } from '../../routing/explain-plan.ts';
import type { Health } from '../../routing/health.ts';

export interface PlanReportDeps {
  catalog(): Catalog;
  health: Pick<Health, 'look'>;
  /** Protocols that clients can speak. */
  protocols: readonly WireProtocol[];
}

/**
 * Explains where a request for `model` in `protocol` (default `chat`) would go now, as this process
 * sees it; a sticky order is that of `affinity` (a key's id). Throws `invalid_request`,
 * `model_not_found`.
 */
export function reportPlan(
  search: string,
  deps: PlanReportDeps,
): PlanExplanation & { protocol: string } {
  const query = new URLSearchParams(search);
  const protocol = findProtocol(query.get('protocol') || 'chat', deps.protocols);
  const name = query.get('model') ?? '';
  if (name === '')
    throw new GatewayError('invalid_request', { message: '`model` is required', param: 'model' });
  const catalog = deps.catalog();
  const model = catalog.models.get(name);
  if (!model)
    throw new GatewayError('model_not_found', { message: unknown(name, catalog), param: 'model' });
  const explained = explainPlan({
    catalog,
    model,
    client: protocol,
    health: deps.health,
    affinity: query.get('affinity') ?? '',
  });
  return { protocol: protocol.id, ...explained };
}

function findProtocol(id: string, protocols: readonly WireProtocol[]): WireProtocol {
  const found = protocols.find((one) => one.id === id);
  if (found) return found;
  const known = [...new Set(protocols.map((one) => one.id))].join(', ');
  throw new GatewayError('invalid_request', {
    message: `\`protocol\` must be one of ${known}`,
    param: 'protocol',
  });
}

function unknown(name: string, { models }: Catalog): string {
  const near = [...models.keys()]
    .toSorted()
    .find((one) => leven(one, name, { maxDistance: 3 }) < 3);
  return near === undefined ? `no model ${name}` : `no model ${name}; did you mean ${near}?`;
}
