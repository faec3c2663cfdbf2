import type { SessionRow } from '../../api/views.ts';
import { State } from '../../parts/parts.tsx';
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
  return <State tone={TONES[session.status] ?? 'warn'}>{session.status}</State>;
}
