import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { toShellArguments } from '../../../core/shell-word.ts';
import type { ApiError } from '../../api/call.ts';
import type { Page, SessionRow } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { useCommands } from '../../frame/use-commands.ts';
import { count, counted, money } from '../../logic/format.ts';
import { toApiError, useLoad } from '../../parts/load.ts';
import { Ago, Empty, Foot, Problem } from '../../parts/parts.tsx';
import { SessionState } from './session-state.tsx';
import { SessionDetail } from './session-detail.tsx';
import '../../styles/sessions.css';

const POLL_MS = 5_000;
/** Sessions that are shown at first, and more at a time. */
const PAGE = 100;
const QUERY = { limit: PAGE, include: 'waiting' };

/** Sessions of the organization, and the timeline of the one that is open. */
export function SessionsPage() {
  const { api } = useConsole();
  const { route } = useLocation();
  const { id = '' } = useRoute().params;
  const { value, error, reload } = useLoad(
    (signal) => api.json<Page<SessionRow>>('/v1/sessions', { query: QUERY, signal }),
    [],
  );
  const { rows, isMore, problem, showOlder } = useOlder(value.value);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload();
    }, POLL_MS);
    return () => clearInterval(timer);
  }, []);
  const open = (next: string): void =>
    route(next === '' ? '/console/sessions' : `/console/sessions/${next}`);
  const move = (step: number): void => {
    const index = rows.findIndex((row) => row.id === id);
    const next = rows[Math.max(0, Math.min(rows.length - 1, index + step))];
    if (next) open(next.id);
  };
  useCommands([
    { title: 'Next Session', key: 'j', run: () => move(1) },
    { title: 'Previous Session', key: 'k', run: () => move(-1) },
    { title: 'Close Session', key: 'Escape', run: () => open('') },
  ]);
  if (error.value && !value.value) return <Problem error={error.value} />;
  return (
    <div class="page">
      <div class="head">
        <h1>Sessions</h1>
      </div>
      <div class="split">
        <div class="list scroll">
          {value.value && rows.length === 0 ? (
            <Empty title="No Session yet" command='gateway invoke SERVICE "Hello" --follow'>
              A Session begins with a message to a Service, a run of a Schedule, or by the API.
            </Empty>
          ) : (
            <SessionTable rows={rows} open={id} onOpen={open} />
          )}
          {problem !== undefined && <Problem error={problem} />}
          {isMore && (
            <p class="empty">
              <button type="button" class="button" onClick={showOlder}>
                Show older
              </button>
            </p>
          )}
        </div>
        {id !== '' && (
          <SessionDetail
            key={id}
            id={id}
            session={rows.find((row) => row.id === id)}
            onClose={() => open('')}
            onChange={reload}
          />
        )}
      </div>
      <Foot
        command={
          id === '' ? 'gateway sessions list' : `gateway sessions tail ${toShellArguments(id)}`
        }
      >
        {counted(rows.length, 'Session')}
        {isMore && ', and older ones'}
      </Foot>
    </div>
  );
}

interface Older {
  readonly rows: readonly SessionRow[];
  /** True while others follow them. */
  readonly isMore: boolean;
  readonly problem: ApiError | undefined;
  showOlder(): void;
}

/** The newest Sessions, which are looked at again and again, and those after them that were requested. */
function useOlder(newest: Page<SessionRow> | undefined): Older {
  const { api } = useConsole();
  const older = useSignal<Page<SessionRow> | undefined>(undefined);
  const problem = useSignal<ApiError | undefined>(undefined);
  const isBusy = useSignal(false);
  const first = newest?.data ?? [];
  const known = new Set(first.map(({ id }) => id));
  const rows = [...first, ...(older.value?.data ?? []).filter(({ id }) => !known.has(id))];
  const page = (older.value ?? newest)?.next_page ?? null;
  const load = async (): Promise<void> => {
    if (page === null || isBusy.value) return;
    isBusy.value = true;
    try {
      const next = await api.json<Page<SessionRow>>('/v1/sessions', {
        query: { ...QUERY, page },
      });
      // Rows that new ones push out of the newest stay.
      older.value = { ...next, data: [...rows, ...next.data] };
      problem.value = undefined;
    } catch (thrown) {
      problem.value = toApiError(thrown);
    } finally {
      isBusy.value = false;
    }
  };
  return { rows, isMore: page !== null, problem: problem.value, showOlder: () => void load() };
}

interface SessionTableProps {
  readonly rows: readonly SessionRow[];
  readonly open: string;
  readonly onOpen: (id: string) => void;
}

function SessionTable({ rows, open, onOpen }: SessionTableProps) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th>Last event</th>
          <th>Status</th>
          <th>Agent</th>
          <th>Session</th>
          <th>Begun by</th>
          <th class="right">Turns</th>
          <th class="right">Tokens</th>
          <th class="right">Cost</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={row.id}
            aria-selected={row.id === open}
            onClick={() => onOpen(row.id === open ? '' : row.id)}
          >
            <td>
              <Ago at={row.updated_at} />
            </td>
            <td>
              <SessionState session={row} />
            </td>
            <td>{row.agent.name}</td>
            <td class="cut wide-cell">
              <a href={`/console/sessions/${row.id}`} onClick={(event) => event.stopPropagation()}>
                {row.title ?? <code>{row.id}</code>}
              </a>
            </td>
            <td>{row.deployment_id ? 'Schedule' : row.endpoint_id ? 'Service' : 'API'}</td>
            <td class="right">{count(row.stats?.turns)}</td>
            <td class="right">
              {count((row.usage?.input_tokens ?? 0) + (row.usage?.output_tokens ?? 0))}
            </td>
            <td class={`right${row.usage?.cost === null ? ' bad' : ''}`}>
              {money(row.usage?.cost)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
