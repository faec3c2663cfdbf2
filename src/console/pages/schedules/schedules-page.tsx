import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { DeploymentRunView, JoinedRun } from '../../../client/deployment-runs.ts';
import { eachItem } from '../../../client/http/pages.ts';
import { withOutcomes } from '../../../client/run-outcome.ts';
import type { SessionsClient } from '../../../client/sessions.ts';
import type { Api, Query } from '../../api/call.ts';
import { listAll, NO_ROWS, PAGE_ROWS } from '../../api/list-all.ts';
import type { Page, SessionRow } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { toRunMark, weekOf } from '../../logic/calendar.ts';
import type { CalendarMark } from '../../logic/calendar.ts';
import { listed } from '../../logic/format.ts';
import { useLoad } from '../../parts/load.ts';
import { Empty, Foot, Problem } from '../../parts/parts.tsx';
import { Calendar } from './calendar.tsx';
import { ScheduleTable } from './schedule-table.tsx';
import type { ScheduleRow } from './schedule-table.tsx';
import '../../styles/schedules.css';

const WEEK = 7 * 86_400_000;
const POLL_MS = 10_000;

/** A week of runs and next times of every Schedule. */
export function SchedulesPage() {
  const { api, now } = useConsole();
  const { url, route } = useLocation();
  const query = new URL(url, location.origin).searchParams;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zone = query.get('zone') ?? own;
  const week = Number(query.get('week') ?? 0) || 0;
  const days = weekOf(Date.now(), zone, week);
  const from = new Date(Date.parse(days[0] ?? '') - 86_400_000).toISOString();
  const { value, error, isLoading, reload } = useLoad(
    async (signal) => {
      const until = new Date(Date.parse(from) + WEEK + 2 * 86_400_000).toISOString();
      const [schedules, runs] = await Promise.all([
        listAll<ScheduleRow>(api, '/v1/deployments', { signal }),
        listAll<DeploymentRunView>(api, '/v1/deployment_runs', {
          query: { 'created_at[gte]': from, 'created_at[lt]': until },
          signal,
        }),
      ]);
      const rows = await withOutcomes(sessionsOf(api), runs.rows, signal);
      return { schedules, runs: { ...runs, rows } };
    },
    [from],
  );
  useEffect(() => {
    const timer = setInterval(() => {
      // A week of many runs may take longer to load than until the next turn.
      if (document.visibilityState === 'visible' && !isLoading.peek()) reload();
    }, POLL_MS);
    return () => clearInterval(timer);
  }, []);
  const go = (part: Record<string, string>): void => {
    const next = new URLSearchParams({
      ...(zone !== own && { zone }),
      ...(week !== 0 && { week: String(week) }),
      ...part,
    });
    if (next.get('week') === '0') next.delete('week');
    route(`/console/schedules?${next.toString()}`, true);
  };
  if (error.value && !value.value) return <Problem error={error.value} />;
  const { schedules: all = NO_ROWS, runs = NO_ROWS } = value.value ?? {};
  const { rows: schedules } = all;
  const zones = [
    ...new Set([own, 'UTC', ...schedules.flatMap(({ schedule }) => schedule?.timezone ?? [])]),
  ];
  return (
    <div class="page">
      <div class="head">
        <h1>Schedules</h1>
        <WeekBar week={week} zone={zone} zones={zones} own={own} go={go} />
      </div>
      <div class="body padded stack wide">
        {value.value && schedules.length === 0 ? (
          <Empty title="No Schedule yet" command="gateway init --template scheduled-report">
            A Schedule begins a Session of an Agent at set times: a deployment of gateway.yaml.
          </Empty>
        ) : (
          <>
            <ScheduleTable rows={schedules} own={own} onChange={reload} />
            <Calendar
              days={days}
              marks={toMarks(schedules, runs.rows)}
              zone={zone}
              now={now.value}
            />
          </>
        )}
      </div>
      <Foot command="gateway schedules list">
        {listed(all, 'Schedule')}
        {runs.isCut && `, ${listed(runs, 'run')}`}
      </Foot>
    </div>
  );
}

interface WeekBarProps {
  readonly week: number;
  readonly zone: string;
  readonly zones: readonly string[];
  readonly own: string;
  readonly go: (part: Record<string, string>) => void;
}

/** Week and zone. */
function WeekBar({ week, zone, zones, own, go }: WeekBarProps) {
  return (
    <>
      <span class="grow" />
      <button
        type="button"
        class="button"
        aria-label="Week before"
        onClick={() => go({ week: String(week - 1) })}
      >
        ←
      </button>
      <button type="button" class="button" disabled={week === 0} onClick={() => go({ week: '0' })}>
        This week
      </button>
      <button
        type="button"
        class="button"
        aria-label="Week after"
        onClick={() => go({ week: String(week + 1) })}
      >
        →
      </button>
      <select
        class="input"
        aria-label="Zone"
        value={zone}
        onChange={({ currentTarget }) => go({ zone: currentTarget.value })}
      >
        {zones.map((name) => (
          <option key={name} value={name}>
            {name === own ? `${name} (yours)` : name}
          </option>
        ))}
      </select>
    </>
  );
}

function sessionsOf(api: Pick<Api, 'json'>): Pick<SessionsClient, 'list'> {
  return {
    list: (filters, signal) =>
      eachItem((page) => {
        const query = { ...filters, include: 'outcome,waiting', limit: PAGE_ROWS, page } as Query;
        return api.json<Page<SessionRow>>('/v1/sessions', { query, ...(signal && { signal }) });
      }),
  };
}

function toMarks(schedules: readonly ScheduleRow[], runs: readonly JoinedRun[]): CalendarMark[] {
  const names = new Map(schedules.map(({ id, name }) => [id, name]));
  const past = runs.map((run) => toRunMark(run, names.get(run.deployment_id)));
  const next = schedules
    .filter(({ paused }) => !paused)
    .flatMap(({ id, name, schedule }) =>
      (schedule?.upcoming_runs_at ?? []).map((at): CalendarMark => ({
        id: `${id} ${at}`,
        at: Date.parse(at),
        name,
        kind: 'next',
        late: undefined,
        session: null,
      })),
    );
  return [...past, ...next];
}
