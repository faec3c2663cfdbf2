import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import type { Call, TaskTracker, TrackedAnswer } from '../../inference/types.ts';
import { isOver, isRunning, isTerminal } from '../../protocols/interactions/interaction.ts';
import { isBackground, isStored } from '../../protocols/interactions/interactions-request.ts';
import type { Answer, ProviderWork, StreamReader } from '../../protocols/protocol.ts';
import type { TaskDeps, TrackedTasks } from '../task-family.ts';
import { recordOf } from '../track-creations.ts';
import { awaitInteraction } from './await-interaction.ts';
import { isBillable, keptOf, keptOfStream } from './interaction-record.ts';
import type { InteractionRecord, KeptInteraction, SeenInteraction } from './interaction-record.ts';

type Interactions = TrackedTasks<InteractionRecord, SeenInteraction>;

/**
 * Notes each Interaction before the client learns its id. One that is over is paid for by the call that created
 * it; one under way is settled later, once, by the first that sees its end: the waiting call, a poll of the
 * client, or the durable job that is stored together with it.
 */
export function createInteractionTracker(tasks: Interactions, deps: TaskDeps): TaskTracker {
  const { rows } = tasks;
  const note = async (
    call: Call,
    work: ProviderWork,
    keep?: () => KeptInteraction,
  ): Promise<void> => {
    if (!isStored(call.peek)) return;
    const record = toRecord(call, work.id, 'call');
    await rows.put(isTerminal(work.status) ? { ...record, kept: keep?.() } : record);
  };
  return {
    async ownerOf({ keyId }, pins) {
      const id = pins[0] ?? '';
      const entry = await rows.find(keyId, id);
      if (entry) return entry.value.account;
      const message = '`previous_interaction_id` names no interaction of this key';
      throw new GatewayError('not_found', { message, param: 'previous_interaction_id' });
    },
    async onAnswer(call, answer) {
      const { work } = answer;
      if (!work) return toTracked(answer.body, undefined, answer);
      if (!isOver(work)) return goOn(call, { work, answer, tasks }, deps);
      await note(call, work, () => keptOf(work, answer.body));
      return toTracked(answer.body, undefined, isBillable(work) ? answer : undefined);
    },
    async onStream(call, { work }) {
      if (work) await note(call, work);
    },
    async onStreamEnd(call, reader) {
      const { work } = reader;
      // The notes of its beginning are enough; a failure now must not cost the settlement.
      if (work) await note(call, work, () => keptOfStream(work)).catch(() => undefined);
      return !work || !isTerminal(work.status) || isBillable(work)
        ? consumptionOf(reader)
        : undefined;
    },
  };
}

/** Stores work that continues after the call, and waits for it unless it is meant for the background. */
async function goOn(
  call: Call,
  { work, answer, tasks }: { work: ProviderWork; answer: Answer; tasks: Interactions },
  deps: TaskDeps,
): Promise<TrackedAnswer> {
  const isWaiting = isRunning(work.status) && !isBackground(call.peek);
  const record = toRecord(call, work.id, 'due');
  const entry = await tasks.add(call, record, isWaiting ? deps.interactionWaitMs : 0);
  const last = isWaiting ? await awaitInteraction(entry, call, { tasks, deps }) : undefined;
  const { seen, body } = last ?? { seen: work, body: answer.body };
  if (!isOver(seen)) await tasks.hold(call, record);
  return toTracked(body, isRunning(seen.status) ? work.id : undefined, undefined);
}

function toTracked(
  body: Buffer,
  place: string | undefined,
  consumption: TrackedAnswer['consumption'],
): TrackedAnswer {
  const location = place && `/v1beta/interactions/${encodeURIComponent(place)}`;
  return { body, headers: location ? { location } : {}, consumption };
}

function consumptionOf({ usage, outputChars, ended }: StreamReader): TrackedAnswer['consumption'] {
  return { usage, outputChars, ended };
}

function toRecord(call: Call, id: string, charge: InteractionRecord['charge']): InteractionRecord {
  return {
    ...recordOf(call),
    id,
    call: call.request.id,
    showsLogicalModel: call.record.answeredBy?.route.responseModel === 'logical',
    inputBytes: call.inputBytes,
    isStored: isStored(call.peek),
    charge,
  };
}
