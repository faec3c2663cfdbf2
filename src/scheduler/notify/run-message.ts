import type { OutcomeType, SessionOutcome } from '../../sessions/outcome.ts';
import type { RunRow } from '../run-row.ts';

/** The one message of `POST …/notifications/chat/test`. */
export const TEST_MESSAGE =
  'Schedule notification test from Agent Gateway: runs of this Schedule are announced here.';

/** Length in characters: whatever the script, the whole stays below the 2,048 bytes that WeCom takes. */
const MAX_NAME = 80;
const MAX_REASON = 320;

export interface Announcement {
  readonly run: RunRow;
  /** Name that people call the Schedule by. */
  readonly name: string;
  /** What became of its Session; null: it has none, or is gone. */
  readonly outcome: SessionOutcome | null;
  /** Instant at which the run was decided, ISO 8601. */
  readonly decidedAt: string;
}

const WORDS: Readonly<Record<OutcomeType, string>> = {
  running: 'runs',
  completed: 'succeeded',
  waiting: 'waits for a person',
  failed: 'failed',
  ended_by_time: 'was ended by time',
};

/**
 * Writes the message to a chat about a run whose Session is at rest, or that has none (requirement
 * deployments.notification.on-run).
 */
export function runMessage({ run, name, outcome, decidedAt }: Announcement): string {
  const { sessionId, error, trigger } = run;
  const became = outcome ? WORDS[outcome.type] : error ? 'failed' : 'began its Session';
  const fault = error ?? (outcome?.message ? { ...outcome, type: outcome.reason } : null);
  const dueAt = trigger.type === 'schedule' && new Date(trigger.scheduledAt).toISOString();
  return [
    `Schedule ${toLine(name, MAX_NAME)}: ${became}`,
    `Schedule id: ${run.deploymentId}`,
    `Run: ${run.id}`,
    `Trigger: ${trigger.type}${dueAt === false ? '' : `, due ${dueAt}`}`,
    ...(sessionId === null ? [] : [`Session: ${sessionId}`]),
    ...(fault ? [`Error: ${fault.type}: ${toLine(fault.message ?? '', MAX_REASON)}`] : []),
    `Time: ${decidedAt}`,
  ].join('\n');
}

/** Text on one line, so that a foreign text never looks like a line of ours. */
function toLine(text: string, max: number): string {
  const characters = Array.from(text.replace(/[\s\p{Cc}]+/gu, ' ').trim());
  return characters.length > max
    ? `${characters.slice(0, max - 1).join('')}…`
    : characters.join('');
}
