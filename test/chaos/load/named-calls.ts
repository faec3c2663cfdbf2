import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from '../caller.ts';
import { isOk, NAMED_KINDS } from '../journal.ts';
import type { NamedKind, NamedNote, SessionNote } from '../journal.ts';
import { ask } from '../stage.ts';
import type { Stage } from '../stage.ts';
import { repeat } from './repeat.ts';
import { must } from './sessions.ts';
import type { Agents } from './sessions.ts';

const WORKERS = 2;
const EVERY_MS = 120;
const AGAIN_MS = 100;
const MAX_TRIES = 200;
/** A repeat may wait for the call that is under way, but less than what counts as a hang. */
const LEAVE_MS = 20_000;

interface Places {
  readonly agent: string;
  readonly session: SessionNote;
  readonly deployment: string;
}

/** Calls with an `Idempotency-Key`, sent again until they are answered, whatever happens meanwhile. */
export async function startNamedCalls(
  stage: Stage,
  until: AbortSignal,
  agents: Agents,
): Promise<Promise<void>[]> {
  const places = await makePlaces(stage, agents);
  let count = 0;
  // In turn, so that even a short load makes one of each before its first fault.
  const nextKind = (): NamedKind => NAMED_KINDS[count++ % NAMED_KINDS.length]!;
  const work = (): Promise<void> => callNamed(stage, nextKind(), places);
  return Array.from({ length: WORKERS }, () => repeat(stage, { until, everyMs: EVERY_MS, work }));
}

async function makePlaces(stage: Stage, { plain }: Agents): Promise<Places> {
  const { journal, time } = stage;
  const made = async (line: string, body: object): Promise<string> =>
    ((await must(ask(stage, ['named.place', line], { body }))) as { id: string }).id;
  const text = `report #${journal.newMark('p')}#`;
  const deployment = await made('POST /v1/deployments', {
    name: 'named',
    agent: plain,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  journal.deployments.push({ id: deployment, isCron: false, madeAt: time.now() });
  const id = await made('POST /v1/sessions', { agent: plain });
  const session: SessionNote = { id, kind: 'plain', messages: [], tails: [] };
  journal.sessions.push(session);
  return { agent: plain, session, deployment };
}

async function callNamed(stage: Stage, kind: NamedKind, places: Places): Promise<void> {
  const { journal, random } = stage;
  const mark = journal.newMark('n');
  const [line, body] = REQUESTS[kind](mark, places);
  const send = (): Promise<Reply> => {
    const headers = { 'idempotency-key': `name ${mark}` };
    return ask(stage, [`named.${kind}`, line], { body, headers, leaveAfterMs: LEAVE_MS });
  };
  const note: NamedNote = { kind, mark, place: places.deployment, outcome: 'open', ids: [] };
  journal.named.push(note);
  for (let tries = 0; note.outcome === 'open' && tries < MAX_TRIES; tries++) {
    if (tries > 0) await sleep(AGAIN_MS);
    hear(note, await send());
  }
  if (random.next() < 0.3) hear(note, await send());
  if (kind === 'message') places.session.messages.push({ mark, id: note.ids[0] });
}

function hear(note: NamedNote, reply: Reply): void {
  const { status, body } = reply;
  if (isOk(reply)) {
    note.outcome = body.status === 'failed' ? 'failed' : 'made';
    note.ids.push(body.id ?? body.data[0].id);
  } else if (status === 409 && /may have been carried out/.test(JSON.stringify(body))) {
    note.outcome = 'unknown';
  }
}

type ToRequest = (mark: string, places: Places) => readonly [line: string, body: object];

const sayOf = (mark: string) => ({
  type: 'user.message',
  content: [{ type: 'text', text: `do it #${mark}#` }],
});

const REQUESTS: Record<NamedKind, ToRequest> = {
  agent: (mark) => ['POST /v1/agents', { name: mark, model: 'chaos/flat' }],
  session: (mark, { agent }) => ['POST /v1/sessions', { agent, title: mark }],
  message: (mark, { session: { id } }) => [
    `POST /v1/sessions/${id}/events`,
    { events: [sayOf(mark)] },
  ],
  trigger: (_mark, { deployment }) => [`POST /v1/deployments/${deployment}/runs`, {}],
  run: (mark) => [
    'POST /v1/run',
    { model: 'chaos/flat', input: { messages: [{ role: 'user', content: `run #${mark}#` }] } },
  ],
};
