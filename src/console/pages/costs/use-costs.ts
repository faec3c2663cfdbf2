import { useMemo } from 'preact/hooks';
import type { Query } from '../../api/call.ts';
import type { Page } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import type { MonthForecast, UsageSum } from '../../logic/cost-series.ts';
import { listDimensions, toRange, toSum } from '../../logic/costs-view.ts';
import type { CostsView, Dimension, UsageReportRow } from '../../logic/costs-view.ts';
import { useLoad } from '../../parts/load.ts';

interface Report extends Page<UsageReportRow> {
  /** Absent from older gateways. */
  dimensions?: string[];
  forecast: MonthForecast | null;
}

/** Data of a page of costs; everything of it is sums. */
export interface Costs {
  /** Sums by day, which the chart is made of. */
  readonly byDay: readonly UsageSum[];
  /** Sums of the days of the table; undefined until they are known. */
  readonly sums: readonly UsageSum[] | undefined;
  /** True once it is known that there is nothing to show. */
  readonly isEmpty: boolean;
  readonly dimensions: readonly Dimension[];
  readonly forecast: MonthForecast | null | undefined;
  /** Dollars of the running month by the value of the dimension. */
  readonly ofMonth: ReadonlyMap<string, UsageSum>;
  readonly error: unknown;
}

/** Values of a dimension of many that are told apart; the others are one row of each day. */
const MOST_IN_CHART = 500;
const MOST_IN_TABLE = 1_000;

/** Loads the costs of a view. */
export function useCosts(
  { by, first, last, chartFirst, chartLast }: CostsView,
  month: string,
): Costs {
  const { api, isAdmin } = useConsole();
  const ask = async (query: Query, signal: AbortSignal): Promise<Report & { of: string }> => {
    const path = isAdmin() ? '/admin/v1/usage' : '/v1/account/usage';
    // Loaded rows stay until the next come, and must not pass for that of another dimension.
    return { ...(await api.json<Report>(path, { query, signal })), of: by.id };
  };
  const days = useLoad(
    (signal) => {
      const limit = by.isLong ? { limit: MOST_IN_CHART } : {};
      return ask({ group_by: `day,${by.id}`, ...toRange(chartFirst, chartLast), ...limit }, signal);
    },
    [by.id, chartFirst, chartLast],
  );
  const whole = useLoad(
    async (signal) =>
      by.isLong
        ? ask({ group_by: by.id, ...toRange(first, last), limit: MOST_IN_TABLE }, signal)
        : undefined,
    [by.id, first, last],
  );
  const running = useLoad(
    (signal) => ask({ group_by: by.isLimited ? by.id : '', month }, signal),
    [by.isLimited ? by.id : '', month],
  );
  const isOfView = days.value.value?.of === by.id;
  const byDay = useMemo(
    () => (isOfView ? (days.value.value?.data ?? []).map((row) => toSum(row, by)) : []),
    [days.value.value, isOfView],
  );
  const own = whole.value.value?.of === by.id ? whole.value.value : undefined;
  const sums = by.isLong
    ? own?.data.map((row) => toSum(row, by))
    : isOfView
      ? byDay.filter(({ day }) => day >= first && day <= last)
      : undefined;
  const ofMonth =
    running.value.value?.of === by.id ? running.value.value.data.map((row) => toSum(row, by)) : [];
  return {
    byDay,
    sums,
    isEmpty: isOfView && byDay.length === 0,
    dimensions: listDimensions(days.value.value?.dimensions ?? [], isAdmin()),
    forecast: running.value.value?.forecast,
    ofMonth: new Map(ofMonth.map((sum) => [sum.value, sum])),
    error: days.error.value ?? whole.error.value ?? running.error.value,
  };
}
