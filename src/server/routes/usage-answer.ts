import type { Clock } from '../../core/time/clock.ts';
import { fromNanos, toNanos } from '../../core/money.ts';
import { agent } from '../../resources/kinds/agent.ts';
import { deployment } from '../../resources/kinds/deployment.ts';
import { key } from '../../resources/kinds/key.ts';
import { organization } from '../../resources/kinds/organization.ts';
import { service } from '../../resources/kinds/service.ts';
import type { ResourceDefinition } from '../../resources/store/define-resource.ts';
import type { Repository } from '../../resources/store/repository.ts';
import type { Store } from '../../store/store.ts';
import { usageReport } from '../../usage/requests/usage-report.ts';
import type { UsageGroup, UsageReportRow } from '../../usage/requests/usage-report.ts';
import { dimensionsOf, monthRange, toUsageQuestion } from './usage-query.ts';
import type { SummedBy, UsageQuestion } from './usage-query.ts';

export interface UsageDeps {
  readonly store: Store;
  readonly repository: Pick<Repository, 'find'>;
  readonly clock: Clock;
  /** Names of labels and tags that use is summed by. Default: none. */
  readonly usage?: SummedBy | undefined;
}

/** Cost of the running month at its end if it continues at the same rate. */
export interface UsageForecast {
  readonly month: string;
  /** Decimal dollars so far, and at the end; null where no call had a known price. */
  readonly spent: string | null;
  readonly cost: string | null;
  /** Calls of the month without a known price, which are in neither. */
  readonly unpriced: number;
}

export interface UsageAnswer {
  readonly data: readonly UsageReportRow[];
  readonly next_page: null;
  /** Values that `group_by` takes here, with the labels and tags that use is summed by. */
  readonly dimensions: readonly UsageGroup[];
  /** Null unless the month is asked for that is running. */
  readonly forecast: UsageForecast | null;
}

const DAY_MS = 86_400_000;
const MONTH_LENGTH = '2026-11'.length;
/** Dimensions whose values are ids of resources. */
const NAMED: Readonly<Record<string, ResourceDefinition>> = {
  organization,
  key,
  agent,
  service,
  schedule: deployment,
};

/** Answers `GET /admin/v1/usage` and, for one organization, `GET /v1/account/usage`. */
export async function answerUsage(
  search: string,
  deps: UsageDeps,
  owner?: string,
): Promise<UsageAnswer> {
  const summedBy = deps.usage ?? { labels: [], tags: [] };
  const question = toUsageQuestion(search, summedBy);
  const asked = owner === undefined ? question : { ...question, organization: owner };
  const rows = await usageReport(deps, asked);
  const data = await withNames(rows, asked, deps);
  const forecast = await forecastOf(asked, deps);
  return { data, next_page: null, dimensions: dimensionsOf(summedBy), forecast };
}

/** Adds `agent_name` to rows with `agent`, and the like; null for an object that is gone. */
async function withNames(
  rows: readonly UsageReportRow[],
  { groupBy = [] }: UsageQuestion,
  { repository }: UsageDeps,
): Promise<UsageReportRow[]> {
  const named = rows.map((row): Record<string, unknown> => ({ ...row }));
  for (const group of groupBy) {
    const definition = NAMED[group];
    if (!definition) continue;
    const names = new Map<unknown, string | null>();
    for (const row of named) {
      const id = row[group];
      if (typeof id === 'string' && !names.has(id))
        names.set(id, await nameOf(definition, id, repository));
      row[`${group}_name`] = names.get(id) ?? null;
    }
  }
  return named as unknown as UsageReportRow[];
}

async function nameOf(
  definition: ResourceDefinition,
  id: string,
  repository: UsageDeps['repository'],
): Promise<string | null> {
  // Schedules pay in the place of a key.
  const kind = definition === key && id.startsWith('depl_') ? deployment : definition;
  const stored = await repository.find(kind, id, { organization: null });
  return stored ? stored.spec.name : null;
}

async function forecastOf(
  { month, organization: owner, conversations }: UsageQuestion,
  deps: UsageDeps,
): Promise<UsageForecast | null> {
  const now = deps.clock.now();
  if (month === undefined || month !== new Date(now).toISOString().slice(0, MONTH_LENGTH))
    return null;
  const { from, to } = monthRange(month);
  const [row] = await usageReport(deps, { from, to, organization: owner, conversations });
  const { unpriced, cost: told } = row ?? { unpriced: 0, cost: '0' };
  if (told === null) return { month, spent: null, cost: null, unpriced };
  const spent = toNanos(told);
  // The first hours of a month are no basis for a forecast.
  const passed = Math.max(now - from, DAY_MS);
  const cost = Math.round((spent / passed) * (to - from));
  return { month, spent: fromNanos(spent), cost: fromNanos(cost), unpriced };
}
