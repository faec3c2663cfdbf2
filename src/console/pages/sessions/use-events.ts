import { useSignal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { collect, eachItem } from '../../../client/http/pages.ts';
import type { Page, SessionEvent } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { toApiError } from '../../parts/load.ts';

/** The history of a Session and what happens; each event once, in the order of the log. */
export function useEvents(id: string): {
  events: ReadonlySignal<readonly SessionEvent[]>;
  problem: ReadonlySignal<string>;
} {
  const { api, streams, link } = useConsole();
  const events = useSignal<readonly SessionEvent[]>([]);
  const problem = useSignal('');
  useEffect(() => {
    const stop = new AbortController();
    const path = `/v1/sessions/${encodeURIComponent(id)}/events` as const;
    let live: SessionEvent[] = [];
    let isWhole = false;
    const put = (fresh: readonly SessionEvent[]): void => {
      const known = new Set(events.value.map((event) => event.id));
      events.value = [...events.value, ...fresh.filter((event) => !known.has(event.id))];
    };
    const loadAll = async (): Promise<void> => {
      isWhole = false;
      try {
        events.value = await collect(
          eachItem((page) => {
            const query = { order: 'asc', limit: 1_000, page };
            return api.json<Page<SessionEvent>>(path, { query, signal: stop.signal });
          }),
        );
        put(live);
        live = [];
        isWhole = true;
      } catch (thrown) {
        if (!stop.signal.aborted) problem.value = toApiError(thrown).message;
      }
    };
    const end = streams.subscribe({
      path: `${path}/stream`,
      query: {},
      onMessage(message) {
        if (message.type === 'state') {
          const was = link.value;
          link.value = message.state;
          // Events from before the stream was open are only in the history.
          if (message.state === 'live' && was !== 'live') void loadAll();
          if (message.state === 'cut' && message.message) problem.value = message.message;
        } else if (message.type === 'event') {
          const event = message.data as SessionEvent;
          if (typeof event.id !== 'string') return;
          if (isWhole) put([event]);
          else live.push(event);
        }
      },
    });
    return () => {
      stop.abort();
      end();
      link.value = undefined;
    };
  }, [id]);
  return { events, problem };
}
