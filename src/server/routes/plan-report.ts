import leven from 'leven';
import { GatewayError } from '../../core/errors.ts';
import type { WireProtocol } from '../../protocols/protocol.ts';
import type { Catalog } from '../../routing/catalog.ts';
import type { NameStep } from '../../routing/name-rules.ts';
import { resolveBareName } from '../../surfaces/bare-names.ts';
import { explainPlan } from '../../routing/explain-plan.ts';
import type { PlanExplanation } from '../../routing/explain-plan.ts';
import type { Health } from '../../routing/health.ts';

export interface PlanReportDeps {
  catalog(): Catalog;
  health: Pick<Health, 'look'>;
  /** Protocols that clients can speak. */
  protocols: readonly WireProtocol[];
}

/** A plan, and the rules by which the name led to its model. */
export interface PlanReport extends PlanExplanation {
  /** Protocol of the client. */
  readonly protocol: string;
  /** Name that was asked for. */
  readonly asked: string;
  readonly resolved_by: readonly NameStep[];
}

/**
 * Explains where a request for `model` in `protocol` (default `chat`) would go now, as this process
 * sees it; a sticky order is that of `affinity` (a key's id). Throws `invalid_request`,
 * `model_not_found`.
 */
export function reportPlan(search: string, deps: PlanReportDeps): PlanReport {
  const query = new URLSearchParams(search);
  const protocol = findProtocol(query.get('protocol') || 'chat', deps.protocols);
  const name = query.get('model') ?? '';
  if (name === '')
    throw new GatewayError('invalid_request', { message: '`model` is required', param: 'model' });
  const catalog = deps.catalog();
  const found = protocol.bareNames
    ? resolveBareName(name, protocol.id, catalog)
    : { name, model: catalog.models.get(name) };
  if (!found?.model)
    throw new GatewayError('model_not_found', { message: unknown(name, catalog), param: 'model' });
  const { model } = found;
  const explained = explainPlan({
    catalog,
    model,
    client: protocol,
    health: deps.health,
    affinity: query.get('affinity') ?? '',
  });
  const steps = catalog.stepsTo(found.name);
  const vendor = { rule: 'vendor', by: model.vendor, gives: found.name } as const;
  const resolvedBy = found.name === name ? steps : [vendor, ...steps];
  return { protocol: protocol.id, asked: name, resolved_by: resolvedBy, ...explained };
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

function unknown(name: string, { shown, stepsTo }: Catalog): string {
  const last = stepsTo(name).at(-1);
  if (last?.rule === 'alias')
    return `the alias ${last.by} leads to ${last.gives}, which no model or provider serves`;
  if (last) return `${last.gives} is switched off`;
  const near = shown()
    .map(({ id }) => id)
    .toSorted()
    .find((one) => leven(one, name, { maxDistance: 3 }) < 3);
  return near === undefined ? `no model ${name}` : `no model ${name}; did you mean ${near}?`;
}
