import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { SessionRow } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { counted, money } from '../../logic/format.ts';
import { toRequestsOf } from '../../logic/requests-view.ts';
import { toTimeline, waitingTools } from '../../logic/session-timeline.ts';
import type { ToolBlock } from '../../logic/session-timeline.ts';
import { toApiError, useLoad } from '../../parts/load.ts';
import { Copy, Problem } from '../../parts/parts.tsx';
import { SessionState } from './session-state.tsx';
import { TurnView } from './turn-view.tsx';
import { useEvents } from './use-events.ts';

interface SessionDetailProps {
  readonly id: string;
  /** Row of the list for it. */
  readonly session: SessionRow | undefined;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** The timeline of a Session, and its inputs. */
export function SessionDetail({ id, session: listed, onClose, onChange }: SessionDetailProps) {
  const { api, tell } = useConsole();
  const { events, problem } = useEvents(id);
  const failure = useSignal('');
  const own = useLoad(
    (signal) => {
      const query = { include: 'waiting' };
      return api.json<SessionRow>(`/v1/sessions/${encodeURIComponent(id)}`, { query, signal });
    },
    [id, events.value.length],
  );
  const session = own.value.value ?? listed;
  const turns = toTimeline(events.value, session?.waiting);
  const path = `/v1/sessions/${encodeURIComponent(id)}` as const;
  const act = async (done: string, send: () => Promise<unknown>): Promise<void> => {
    try {
      failure.value = '';
      await send();
      tell(done);
      own.reload();
      onChange();
    } catch (thrown) {
      failure.value = toApiError(thrown).message;
    }
  };
  const send = (done: string, event: Record<string, unknown>): void =>
    void act(done, () => api.json(`${path}/events`, { method: 'POST', body: { events: [event] } }));
  const confirm = (tool: string, result: 'allow' | 'deny'): void =>
    send(result === 'allow' ? 'Allowed' : 'Denied', {
      type: 'user.tool_confirmation',
      tool_use_id: tool,
      result,
    });
  const end = useTail(events.value.length);
  const isOver = session?.archived_at !== null && session?.archived_at !== undefined;
  const waiting = waitingTools(turns).length;
  return (
    <aside class="detail session" aria-label={`Session ${id}`}>
      <div class="title">
        <span class="grow cut">
          {session?.title ?? session?.agent.name ?? ''} <code class="dim">{id}</code>
        </span>
        {session && <SessionState session={session} />}
        <Copy text={id} label="Copy id" />
        <button
          type="button"
          class="button small"
          disabled={session?.status !== 'running' && !session?.waiting}
          onClick={() => send('Interrupted', { type: 'user.interrupt' })}
        >
          Interrupt
        </button>
        <button
          type="button"
          class="button small"
          disabled={isOver || session?.status === 'running'}
          onClick={() =>
            void act('Archived', () => api.json(`${path}/archive`, { method: 'POST', body: {} }))
          }
        >
          Archive
        </button>
        <button type="button" class="button small plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      <div class="timeline" ref={end} role="log" aria-label="Timeline" tabIndex={0}>
        {problem.value && <Problem error={problem.value} />}
        {turns.map((turn, index) => (
          <TurnView
            key={turn.id}
            turn={turn}
            number={index + 1}
            onConfirm={confirm}
            onAnswer={(tool, text) => send('Answered', toResult(tool, text))}
          />
        ))}
      </div>
      {failure.value && <Problem error={failure.value} />}
      <div class="session-foot">
        <Composer
          isDisabled={isOver}
          onSend={(text) =>
            send('Sent', { type: 'user.message', content: [{ type: 'text', text }] })
          }
        />
        <p class="dim">
          <Waiting count={waiting} />
          {counted(session?.stats?.turns, 'turn')} ·{' '}
          <a href={toRequestsOf('conversation', id)}>{money(session?.usage?.cost)}</a>
        </p>
      </div>
    </aside>
  );
}

/** The event that gives the result of a call. */
function toResult({ id, resultType: type }: ToolBlock, text: string): Record<string, unknown> {
  const member = type === 'user.custom_tool_result' ? 'custom_tool_use_id' : 'tool_use_id';
  return { type, [member]: id, content: [{ type: 'text', text }] };
}

function Waiting({ count }: { count: number }) {
  if (count === 0) return null;
  const text = count === 1 ? 'A tool call waits for you. ' : `${count} tool calls wait for you. `;
  return <strong class="warn">{text}</strong>;
}

/** Keeps the end in sight for a reader who is there; leaves all others where they are. */
function useTail(length: number) {
  const place = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const root = place.current;
    if (!root) return undefined;
    const note = (): void => {
      isAtEnd.current = root.scrollTop + root.clientHeight > root.scrollHeight - 32;
    };
    root.addEventListener('scroll', note, { passive: true });
    return () => root.removeEventListener('scroll', note);
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current && place.current) place.current.scrollTop = place.current.scrollHeight;
  }, [length]);
  return place;
}

function Composer({ isDisabled, onSend }: { isDisabled: boolean; onSend(text: string): void }) {
  const text = useSignal('');
  const send = (): void => {
    if (text.value.trim() === '') return;
    onSend(text.value);
    text.value = '';
  };
  return (
    <form
      class="row composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        class="input grow"
        rows={2}
        aria-label="Message"
        placeholder={
          isDisabled ? 'The Session is archived' : 'Message. Enter sends, Shift+Enter begins a line'
        }
        disabled={isDisabled}
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey) return;
          event.preventDefault();
          send();
        }}
      />
      <button type="submit" class="button main" disabled={isDisabled || text.value.trim() === ''}>
        Send
      </button>
    </form>
  );
}
