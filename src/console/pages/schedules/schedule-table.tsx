import type { DeploymentView } from '../../../client/deployments.ts';
import { useConsole } from '../../frame/state.ts';
import { zoned } from '../../logic/calendar.ts';
import { NONE } from '../../logic/format.ts';
import { toApiError } from '../../parts/load.ts';
import { Ago, State } from '../../parts/parts.tsx';

export interface ScheduleRow extends DeploymentView {
  paused: boolean;
  paused_reason: { type: string } | null;
  schedule: {
    type: string;
    expression: string;
    timezone: string;
    upcoming_runs_at: string[];
    last_run_at: string | null;
  } | null;
}

type Action = `${string}/${'runs' | 'pause' | 'unpause'}`;

interface ScheduleTableProps {
  readonly rows: readonly ScheduleRow[];
  /** Zone of the viewer. */
  readonly own: string;
  readonly onChange: () => void;
}

/** Every Schedule with its next time on its own clocks and on those of the viewer. */
export function ScheduleTable({ rows, own, onChange }: ScheduleTableProps) {
  const { api, tell } = useConsole();
  const act = async (path: Action, done: string): Promise<void> => {
    try {
      await api.json(`/v1/deployments/${path}`, { method: 'POST', body: {} });
      tell(done);
      onChange();
    } catch (thrown) {
      tell(toApiError(thrown).message);
    }
  };
  return (
    <table class="table">
      <thead>
        <tr>
          <th>Name</th>
          <th>State</th>
          <th>When</th>
          <th>Zone</th>
          <th>Next, there</th>
          <th>Next, yours</th>
          <th>Last run</th>
          <th class="right">
            <span class="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, name, schedule, paused, paused_reason: reason }) => {
          const next = paused ? undefined : schedule?.upcoming_runs_at[0];
          return (
            <tr key={id}>
              <td>{name}</td>
              <td>
                {paused ? (
                  <State tone="dim">
                    {reason && reason.type !== 'manual' ? `paused: ${reason.type}` : 'paused'}
                  </State>
                ) : (
                  <State tone="good">active</State>
                )}
              </td>
              <td>
                <code>{schedule?.expression ?? 'by hand'}</code>
              </td>
              <td>{schedule?.timezone ?? NONE}</td>
              <td>{next && schedule ? zoned(Date.parse(next), schedule.timezone) : NONE}</td>
              <td>{next ? zoned(Date.parse(next), own) : NONE}</td>
              <td>
                <Ago at={schedule?.last_run_at} />
              </td>
              <td class="right">
                <button
                  type="button"
                  class="button small"
                  onClick={() => void act(`${id}/runs`, `Ran ${name}`)}
                >
                  Run now
                </button>{' '}
                <button
                  type="button"
                  class="button small"
                  onClick={() =>
                    void act(
                      `${id}/${paused ? 'unpause' : 'pause'}`,
                      `${paused ? 'Unpaused' : 'Paused'} ${name}`,
                    )
                  }
                >
                  {paused ? 'Unpause' : 'Pause'}
                </button>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
