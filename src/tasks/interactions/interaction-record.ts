import { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { stringifyWithRaw } from '../../core/json/raw.ts';
import { isFruitless, isRunning, toLean } from '../../protocols/interactions/interaction.ts';
import type { Interaction } from '../../protocols/interactions/interaction.ts';
import { toInteractionUsage } from '../../protocols/interactions/interactions-usage.ts';
import { withoutMedia } from '../../protocols/interactions/without-media.ts';
import { rewriteModelName } from '../../protocols/model-member.ts';
import type { TaskRecord } from '../task-rows.ts';

/** Terminal Interaction, kept for when its provider has forgotten it. */
export interface KeptInteraction {
  /** JSON. */
  readonly body: string;
  /** `event`: as a stream sent it; `lossy`: without its media; `whole`: the provider's own bytes. */
  readonly form: 'event' | 'lossy' | 'whole';
}

/** Interaction of the key that created it; its id is the provider's. */
export interface InteractionRecord extends TaskRecord {
  /** Id of the request that created it. */
  readonly call: string;
  readonly showsLogicalModel: boolean;
  /** Bytes of the request, for an estimate. */
  readonly inputBytes: number;
  /** `call`: paid for by the call that created it; `due`: when it is over; `settled`: once, since it was. */
  readonly charge: 'call' | 'due' | 'settled';
  /** False: the client wants nothing of it to be kept. */
  readonly isStored: boolean;
  /** Absent until it was seen to be terminal. */
  readonly kept?: KeptInteraction | undefined;
}

/** Interaction as its provider reports it. */
export interface SeenInteraction {
  readonly seen: Interaction;
  /** The provider's bytes. */
  readonly body: Buffer;
  /** Part of it that is worth keeping; undefined: none. */
  readonly kept: KeptInteraction | undefined;
}

/** True where there is anything to pay: failures cost only what the provider says that they did. */
export function isBillable({ status, value }: Interaction): boolean {
  return !isFruitless(status) || toInteractionUsage(value['usage']) !== undefined;
}

/** Bytes for a client: of a running Interaction nothing partial. Throws `invalid_upstream_response`. */
export function toShown(record: InteractionRecord, { seen, body }: SeenInteraction): Buffer {
  try {
    return toNamed(record, isRunning(seen.status) ? toLean(body) : body);
  } catch (cause) {
    throw new GatewayError('invalid_upstream_response', { cause });
  }
}

/** Replaces the model's name by the one that the route shows to clients. */
export function toNamed({ showsLogicalModel, model }: InteractionRecord, body: Buffer): Buffer {
  return showsLogicalModel ? rewriteModelName(body, model) : body;
}

/** @param includesInput true: `body` holds more than clients usually ask for, so it is no `whole` one */
export function keptOf(seen: Interaction, body: Buffer, includesInput = false): KeptInteraction {
  const { body: text, whole } = withoutMedia(seen, body);
  return { body: text, form: whole && !includesInput ? 'whole' : 'lossy' };
}

/** @param seen as the last event of a stream sent it */
export function keptOfStream(seen: Interaction): KeptInteraction {
  const text = Buffer.from(stringifyWithRaw(seen.value));
  return { body: keptOf(seen, text).body, form: 'event' };
}
