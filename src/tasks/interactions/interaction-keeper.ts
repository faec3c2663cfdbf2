import { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import type { Call } from '../../inference/types.ts';
import type { KeptAnswer, WorkKeeper } from '../../inference/work-keeper.ts';
import { isOver, isRunning, isTerminal } from '../../protocols/interactions/interaction.ts';
import { isBackground, isStored } from '../../protocols/interactions/interactions-request.ts';
import type { Answer, ProviderWork, StreamReader } from '../../protocols/protocol.ts';
import { awaitInteraction } from './await-interaction.ts';
import type { AwaitDeps } from './await-interaction.ts';
import type { InteractionRecord, KeptInteraction } from './interaction-records.ts';
import { keptOf } from './look-up-interaction.ts';
import { isBillable } from './settle-interaction.ts';

/** When nobody asks for background work, the gateway does so for the first time. */
const FIRST_POLL_MS = 5_000;

/**
 * Notes each Interaction before the client learns its id. One that is over is paid for by the call that
 * created it; one that goes on is settled later, once, by whoever sees its end first: the waiting call,
 * a poll of the client, or the durable job that is stored together with it.
 */
export function createInteractionKeeper(deps: AwaitDeps): WorkKeeper {
  const { records } = deps;
  const note = async (
    call: Call,
    work: ProviderWork,
    keep?: () => KeptInteraction,
  ): Promise<void> => {
    if (!isStored(call.peek)) return;
    const record = toRecord(call, work.id, 'call');
    await records.put(isTerminal(work.status) ? { ...record, kept: keep?.() } : record);
  };
  return {
    async ownerOf({ keyId }, pins) {
      const id = pins[0] ?? '';
      const entry = await records.find(keyId, id);
      if (entry) return entry.value.account;
      const message = '`previous_interaction_id` names no interaction of this key';
      throw new GatewayError('not_found', { message, param: 'previous_interaction_id' });
    },
    async onAnswer(call, answer) {
      const { work } = answer;
      if (!work) return toKept(answer.body, undefined, answer);
      if (!isOver(work)) return goOn(call, { work, answer }, deps);
      await note(call, work, () => keptOf(work, answer.body));
      return toKept(answer.body, undefined, isBillable(work) ? answer : undefined);
    },
    async onStream(call, { work }) {
      if (work) await note(call, work);
    },
    async onStreamEnd(call, reader) {
      const { work } = reader;
      // What was noted at its beginning is enough; a failure now must not cost the settlement.
      if (work) await note(call, work, () => keptOfStream(work)).catch(() => undefined);
      return !work || !isTerminal(work.status) || isBillable(work)
        ? consumptionOf(reader)
        : undefined;
    },
  };
}

/** Work that goes on behind the call: durable first, then waited for unless it is meant for the background. */
async function goOn(
  call: Call,
  { work, answer }: { work: ProviderWork; answer: Answer },
  deps: AwaitDeps,
): Promise<KeptAnswer> {
  const { records, charges, waitMs } = deps;
  const isWaiting = isRunning(work.status) && !isBackground(call.peek);
  const record = toRecord(call, work.id, 'due');
  const entry = await records.putWithJob(record, FIRST_POLL_MS + (isWaiting ? waitMs : 0));
  const last = isWaiting ? await awaitInteraction(entry, call, deps) : undefined;
  const { seen, body } = last ?? { seen: work, body: answer.body };
  if (!isOver(seen)) {
    const { id, principal, at, bound } = call;
    await charges.hold({ id, principal, at, bound });
  }
  return toKept(body, isRunning(seen.status) ? work.id : undefined, undefined);
}

function toKept(
  body: Buffer,
  place: string | undefined,
  consumption: KeptAnswer['consumption'],
): KeptAnswer {
  const location = place && `/v1beta/interactions/${encodeURIComponent(place)}`;
  return { body, headers: location ? { location } : {}, consumption };
}

function consumptionOf({ usage, outputChars }: StreamReader): KeptAnswer['consumption'] {
  return { usage, outputChars };
}

function keptOfStream(work: ProviderWork): KeptInteraction {
  const text = Buffer.from(JSON.stringify(work.value));
  return { body: keptOf(work, text).body, form: 'event' };
}

function toRecord(call: Call, id: string, charge: InteractionRecord['charge']): InteractionRecord {
  const { answeredBy } = call.record;
  if (!answeredBy) throw new Error('nobody answered');
  const { model, route } = answeredBy;
  const { keyId, keyName, organizationId } = call.principal;
  return {
    id,
    call: call.id,
    payer: { keyId, keyName, organizationId },
    at: call.at,
    model: call.model.id,
    answeredBy: model.id,
    provider: route.provider.name,
    account: route.provider.id,
    upstreamModel: route.upstreamModel,
    showsLogicalModel: route.responseModel === 'logical',
    pricing: route.pricing,
    inputBytes: call.inputBytes,
    isStored: isStored(call.peek),
    charge,
  };
}
