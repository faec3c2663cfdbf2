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
  /** Instant at which the run was decided, ISO 8601. */
  readonly decidedAt: string;
}

/**
 * Writes the message to a chat about a run that ended (requirement
 * deployments.notification.on-run).
 */
export function runMessage({ run, name, decidedAt }: Announcement): string {
  const { sessionId, error, trigger } = run;
  const outcome = error === null ? 'succeeded' : 'failed';
  const dueAt = trigger.type === 'schedule' && new Date(trigger.scheduledAt).toISOString();
  return [
    `Schedule ${toLine(name, MAX_NAME)}: ${outcome}`,
    `Schedule id: ${run.deploymentId}`,
    `Run: ${run.id}`,
    `Trigger: ${trigger.type}${dueAt === false ? '' : `, due ${dueAt}`}`,
    error === null
      ? `Session: ${sessionId}`
      : `Error: ${error.type}: ${toLine(error.message, MAX_REASON)}`,
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
