import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useConsole } from '../../frame/state.ts';
import { useCommands } from '../../frame/use-commands.ts';
import { counted } from '../../logic/format.ts';
import { toTerm } from '../../logic/request-filter.ts';
import { readView, writeView } from '../../logic/requests-view.ts';
import type { RequestsView } from '../../logic/requests-view.ts';
import { toLogsCommand } from '../../logic/logs-command.ts';
import { Empty, Foot } from '../../parts/parts.tsx';
import { ConversationList } from './conversation-list.tsx';
import { RequestDetail } from './request-detail.tsx';
import { RequestList } from './request-list.tsx';
import { RequestsBar } from './requests-bar.tsx';
import { RequestFeed } from './request-feed.ts';
import type { LinkState } from '../../stream/messages.ts';
import '../../styles/requests.css';

/** Page of current requests: every request as it begins and ends, and all about the one that is open. */
export function RequestsPage() {
  const { session } = useConsole();
  const { url, route } = useLocation();
  const view = readView(new URL(url, location.origin).search);
  const change = (part: Partial<RequestsView>, isStep = false): void =>
    route(`/console/requests${writeView({ ...view, ...part })}`, !isStep);
  const requests = useFeed(view);
  const rows = requests.rows.value;
  const at = useSignal(view.open);
  const isTop = useSignal(true);
  requests.isReading = !isTop.value;

  const move = (step: number): void => {
    const index = rows.findIndex(({ id }) => id === at.value);
    const next = rows[Math.max(0, Math.min(rows.length - 1, index + step))];
    if (!next) return;
    at.value = next.id;
    if (view.open !== '') change({ open: next.id });
  };
  const open = (id: string): void => {
    at.value = id;
    change({ open: id === view.open ? '' : id }, true);
  };
  useCommands([
    { title: 'Next request', key: 'j', run: () => move(1) },
    { title: 'Previous request', key: 'k', run: () => move(-1) },
    { title: 'Open request', key: 'Enter', run: () => at.value && !view.open && open(at.value) },
    { title: 'Close request', key: 'Escape', run: () => view.open && change({ open: '' }) },
    {
      title: 'Show failures',
      cli: 'gateway logs --status error',
      run: () => change({ filter: 'result:error' }),
    },
  ]);
  const isEmpty = requests.isLoaded.value && rows.length === 0 && requests.waiting.value === 0;
  return (
    <div class="page">
      <RequestsBar view={view} change={change} requests={requests} />
      <div class="split">
        <div class="list" onKeyDown={(event) => onArrows(event, move)}>
          {isEmpty ? (
            <None isFiltered={view.filter !== '' || view.last !== ''} />
          ) : view.group ? (
            <ConversationList
              rows={rows}
              onPick={(id) => change({ group: '', filter: toTerm('conversation', id) })}
            />
          ) : (
            <RequestList
              {...{ rows, at: at.value, open: view.open, columns: view.columns, onOpen: open }}
              onTop={(value) => {
                isTop.value = value;
                if (value) requests.catchUp();
              }}
              onEnd={() => void requests.loadOlder()}
            />
          )}
        </div>
        {view.open !== '' && (
          <RequestDetail
            key={view.open}
            id={view.open}
            row={rows.find(({ id }) => id === view.open)}
            onClose={() => change({ open: '' })}
          />
        )}
      </div>
      <Foot command={toLogsCommand(view)}>
        {requests.problem.value || counted(rows.length, 'request')}
        {session.value && <span class="hidden">of {session.value.organization.name}</span>}
      </Foot>
    </div>
  );
}

/** The feed of a view, open as long as the page shows it. */
function useFeed({ filter, last }: RequestsView): RequestFeed {
  const { api, streams, link, isAdmin } = useConsole();
  const feed = useMemo(() => {
    const onState = (state: LinkState): void => void (link.value = state);
    return new RequestFeed(filter, last, {
      api,
      streams,
      isAdmin: isAdmin(),
      now: Date.now(),
      onState,
    });
  }, [filter, last]);
  useEffect(() => feed.open(), [feed]);
  useEffect(() => () => void (link.value = undefined), []);
  return feed;
}

function onArrows(event: KeyboardEvent, move: (step: number) => void): void {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
  if (!step) return;
  event.preventDefault();
  move(step);
}

function None({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No request matches" command='gateway chat MODEL "Hello"'>
      None of the requests in this time meets the filter. New ones appear here as they begin.
    </Empty>
  ) : (
    <Empty title="No request yet" command='gateway chat MODEL "Hello"'>
      Requests appear here as they begin. Send one:
    </Empty>
  );
}
