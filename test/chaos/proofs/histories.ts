import { isDeepStrictEqual } from 'node:util';
import type { SessionEvent } from '../../../src/sessions/log/session-event.ts';
import type { SessionNote } from '../journal.ts';
import type { Tail } from '../load/tails.ts';
import { within } from '../quiesce.ts';
import type { Stage } from '../stage.ts';
import { marksIn } from '../upstream.ts';
import { readAll, toProof } from './pages.ts';
import type { Proof } from './pages.ts';

/** The history of every Session that the driver knows of. */
export type Histories = ReadonlyMap<SessionNote, readonly SessionEvent[]>;

const AT_ONCE = 8;

/** Reads every history from every gateway, in pages of other sizes, in both directions. */
export async function proveLogs(
  stage: Stage,
): Promise<{ histories: Histories; proofs: readonly Proof[] }> {
  const histories = new Map<SessionNote, readonly SessionEvent[]>();
  const faults: string[] = [];
  const waiting = [...stage.journal.sessions];
  const read = async (): Promise<void> => {
    for (let session = waiting.pop(); session; session = waiting.pop()) {
      const { id } = session;
      const [first = [], ...others] = await Promise.all(
        stage.nodes.map((node, index) => {
          const order = index % 2 === 0 ? 'asc' : 'desc';
          const path = `/v1/sessions/${id}/events?limit=${[100, 7, 3][index % 3]}&order=${order}`;
          return readAll(stage, node, path).then((all) => (index % 2 === 0 ? all : all.reverse()));
        }),
      );
      histories.set(session, first);
      if (others.some((other) => !isDeepStrictEqual(other, first)))
        faults.push(`${id}: two gateways tell two histories`);
      faults.push(...lawsOf(first).map((fault) => `${id}: ${fault}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, read));
  const title = 'every event log is in order, and the same for all readers';
  const logs = toProof(title, histories.size, faults);
  return { histories, proofs: [logs, await proveTails(histories)] };
}

/** Each follower was told every event behind its first one, once, whatever connections it lost. */
async function proveTails(histories: Histories): Promise<Proof> {
  const faults: string[] = [];
  let checked = 0;
  for (const [{ id, tails }, events] of histories) {
    const all = events.map((event) => event.id);
    for (const tail of tails as Tail[]) {
      checked++;
      const expected = all.slice(all.indexOf(tail.after) + 1);
      await within(() => tail.ids.length >= expected.length);
      tail.close();
      if (!isDeepStrictEqual(tail.ids, expected))
        faults.push(`${id}: ${tail.ids.length} events followed, ${expected.length} in the history`);
    }
  }
  return toProof('every follower saw every event once', checked, faults);
}

const MOVES: Readonly<Record<string, readonly string[]>> = {
  idle: ['running', 'idle'],
  running: ['idle', 'rescheduled'],
  rescheduled: ['running'],
};

/** What holds for the log of every Session that has come to rest. */
function lawsOf(events: readonly SessionEvent[]): string[] {
  const faults: string[] = [];
  const unanswered = new Set<unknown>();
  let status = 'idle';
  let open: string | undefined;
  for (const event of events) {
    const { type, id } = event;
    const next = /^session\.status_(\w+)$/.exec(type)?.[1];
    if (next !== undefined && !MOVES[status]?.includes(next)) faults.push(`${status} to ${next}`);
    status = next ?? status;
    if (type === 'span.model_request_start') {
      if (open !== undefined || status !== 'running') faults.push(`${id} begins too early`);
      open = id;
    }
    if (type === 'span.model_request_end') {
      if (event['model_request_start_id'] !== open) faults.push(`${id} ends what is not open`);
      open = undefined;
    }
    if (type.endsWith('tool_use')) unanswered.add(id);
    if (type.endsWith('tool_result')) {
      const use = event['mcp_tool_use_id'] ?? event['tool_use_id'];
      if (!unanswered.delete(use)) faults.push(`${id} answers what was answered`);
    }
  }
  if (status !== 'idle') faults.push(`at rest it is ${status}`);
  if (open !== undefined || unanswered.size > 0) faults.push('something is open at rest');
  if (new Set(events.map(({ id }) => id)).size !== events.length) faults.push('an event is twice');
  return faults;
}

/** Each message stands in its log once, and has one answer; no tool acted twice for it. */
export function proveTurns(
  histories: Histories,
  { effects }: { effects: readonly string[] },
): Proof[] {
  const faults: string[] = [];
  let checked = 0;
  let failed = 0;
  for (const [{ id, messages }, events] of histories) {
    for (const { mark, id: acknowledged } of messages) {
      checked++;
      const asked = events.filter((event) => isAbout(event, 'user.message', mark));
      const answers = events.filter((event) => isAbout(event, 'agent.message', mark)).length;
      if (asked.length > 1)
        faults.push(`${id}: message ${mark} stands there ${asked.length} times`);
      if (acknowledged !== undefined && asked[0]?.id !== acknowledged)
        faults.push(`${id}: the acknowledged message ${mark} is missing`);
      const hasFailed = asked[0] !== undefined && isFollowedByError(events, asked[0]);
      if (hasFailed && answers === 0) failed++;
      const isRight = answers === (asked.length > 0 ? 1 : 0) || (hasFailed && answers === 0);
      if (!isRight) faults.push(`${id}: message ${mark} has ${answers} answers`);
    }
  }
  const counts = new Map<string, number>();
  for (const mark of effects) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  const twice = [...counts].filter(([, count]) => count > 1);
  return [
    toProof(`one answer for each message (${failed} ended in an error instead)`, checked, faults),
    toProof(
      'no tool or harness acted twice for one message',
      counts.size,
      twice.map(([mark, count]) => `${mark}: ${count} times`),
    ),
  ];
}

const isAbout = (event: SessionEvent, type: string, mark: string): boolean =>
  event.type === type && marksIn(JSON.stringify(event['content'])).includes(mark);

function isFollowedByError(events: readonly SessionEvent[], message: SessionEvent): boolean {
  return events
    .slice(events.indexOf(message))
    .some((event) => event.type === 'session.error' && !event['retry_status']);
}
