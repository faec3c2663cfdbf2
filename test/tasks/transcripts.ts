import { Buffer } from 'node:buffer';
import { NO_USAGE } from '../../src/core/usage.ts';
import { chat } from '../../src/protocols/chat/chat.ts';
import type { WireProtocol } from '../../src/protocols/protocol.ts';
import { OWN_ID, siblingOf } from '../../src/tasks/identity.ts';
import type { Settlement } from '../../src/tasks/task-family.ts';
import type { TaskRecord } from '../../src/tasks/task-rows.ts';
import { defineTask } from '../../src/tasks/task.ts';
import { recordOf, trackCreations } from '../../src/tasks/track-creations.ts';
import { costOf } from '../../src/usage/spend/pricing.ts';

/** Transcript as its provider tells it. */
interface Transcript {
  readonly id: string;
  readonly state: 'working' | 'done' | 'broken';
  readonly seconds: number;
}

interface TranscriptRecord extends TaskRecord {
  readonly upstreamId: string;
  readonly state: Transcript['state'];
  readonly seconds: number;
  readonly settlement: Settlement;
}

/** Family that exists in tests alone: everything that a new one has to say. */
export const openTranscripts = defineTask<TranscriptRecord, Transcript>({
  name: 'transcript',
  job: 'transcript-poll',
  protocol: 'chat',
  identity: OWN_ID,
  pollMs: 3_000,
  tracker: trackCreations({
    toRecord: (call, { id }): TranscriptRecord => ({
      ...recordOf(call),
      id: siblingOf(call.request.id, 'transcript'),
      upstreamId: id,
      state: 'working',
      seconds: 0,
      settlement: 'reserved',
    }),
    toBody: ({ id, state }) => ({ id, state }),
  }),
  isReserved: ({ settlement }) => settlement === 'reserved',
  read: (_record, body) => readTranscript(body),
  note(record, seen) {
    const { state, seconds } = typeof seen === 'string' ? LOST : seen;
    return state === record.state ? undefined : { state, seconds };
  },
  endOf({ state, seconds, pricing }) {
    if (state === 'working') return undefined;
    if (state === 'broken') return 'free';
    const usage = { ...NO_USAGE, seconds };
    return { result: 'ok', usage, estimated: false, cost: costOf(usage, pricing) };
  },
  close({ settlement }, end) {
    if (settlement !== 'reserved') return undefined;
    return { settlement: end === 'free' ? 'released' : 'settled' };
  },
  tell: ({ state, settlement }) => ({ status: STATUSES[state], settlement }),
});

/** Endpoint whose calls create transcripts: requests are those of chat. */
export const transcription: WireProtocol = {
  ...chat,
  readAnswer(source) {
    const body = Buffer.isBuffer(source) ? source : source.body;
    const { id, state: status } = readTranscript(body) ?? LOST;
    return { body, usage: undefined, outputChars: 0, work: { id, status, value: {} } };
  },
};

const LOST: Transcript = { id: '', state: 'broken', seconds: 0 };
const STATUSES = { working: 'running', done: 'succeeded', broken: 'failed' } as const;

function readTranscript(body: Buffer): Transcript | undefined {
  try {
    return JSON.parse(body.toString('utf8')) as Transcript;
  } catch {
    return undefined;
  }
}
