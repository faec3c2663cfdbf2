import type { SessionRow } from '../../api/views.ts';
import { Ago, State } from '../../parts/parts.tsx';
import type { Tone } from '../../parts/parts.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  running: 'busy',
  rescheduling: 'warn',
  idle: 'good',
  terminated: 'dim',
};

/** Status of a Session as a word and a shape. */
export function SessionState({ session }: { session: SessionRow }) {
  if (session.archived_at) return <State tone="dim">archived</State>;
  if (session.waiting)
    return (
      <span title={session.waiting.message}>
        <State tone="warn">
          waits: {[...new Set(session.waiting.calls.map(({ name }) => name))].join(', ')}
        </State>{' '}
        <span class="dim">
          <Ago at={session.waiting.since} />
        </span>
      </span>
    );
  return <State tone={TONES[session.status] ?? 'warn'}>{session.status}</State>;
}
