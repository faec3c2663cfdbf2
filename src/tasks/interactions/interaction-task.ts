import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { statusFailure } from '../../inference/failures.ts';
import {
  isFruitless,
  isOver,
  isTerminal,
  readInteraction,
} from '../../protocols/interactions/interaction.ts';
import type { Interaction } from '../../protocols/interactions/interaction.ts';
import { interactions } from '../../protocols/interactions/interactions.ts';
import { measureOutput } from '../../protocols/interactions/interactions-output.ts';
import { toInteractionUsage } from '../../protocols/interactions/interactions-usage.ts';
import { GOOGLE } from '../../protocols/family.ts';
import type { Family } from '../../protocols/family.ts';
import type { InferenceSurface } from '../../protocols/surface.ts';
import { toFamilyError } from '../../surfaces/family-error.ts';
import { priceOf, estimateTokens } from '../../usage/spend/pricing.ts';
import { PROVIDER_ID } from '../identity.ts';
import type { Lost, TaskCharge } from '../task-family.ts';
import { defineTask } from '../task.ts';
import type { TaskService } from '../task.ts';
import { createInteractionTracker } from './interaction-tracker.ts';
import { isBillable, keptOf } from './interaction-record.ts';
import type { InteractionRecord, SeenInteraction } from './interaction-record.ts';

export type InteractionService = TaskService<InteractionRecord, SeenInteraction>;

const MAX_ERROR_BYTES = 64 * 1024;
/** Query of a look that asks for the input, too. */
export const INCLUDE_INPUT = 'include_input=true';
const NOTHING = { usage: NO_USAGE, estimated: false, cost: 0 };
/** Better forms take the place of worse ones. */
const RANK = { none: 0, event: 1, lossy: 2, whole: 3 } as const;

const FAMILY: Family = { ...GOOGLE, noRoute: 400, maySkipStreams: true };

/** `POST /v1beta/interactions`, also under `/v1` (contract: Interactions protocol). */
export const interactionsSurface: InferenceSurface = {
  name: 'interactions',
  paths: ['/v1beta/interactions', '/v1/interactions'],
  family: FAMILY,
  protocol: interactions,
  repeatable: true,
};

export const openInteractions = defineTask<InteractionRecord, SeenInteraction>({
  name: 'interaction',
  job: 'interaction-poll',
  protocol: 'interactions',
  identity: PROVIDER_ID,
  pollMs: 5_000,
  tracker: createInteractionTracker,
  isReserved: ({ charge }) => charge === 'due',
  read(record, body, { query }) {
    const seen = readInteraction(body);
    if (seen?.id !== record.id) return undefined;
    const isKept = record.isStored && isTerminal(seen.status);
    return { seen, body, kept: isKept ? keptOf(seen, body, query === INCLUDE_INPUT) : undefined };
  },
  endOf(record, look) {
    if (typeof look === 'string')
      return { ...NOTHING, result: 'interrupted', errorCode: 'interaction_lost' };
    return look && isOver(look.seen) ? chargeOf(record, look.seen) : undefined;
  },
  close(record, _end, look) {
    const kept = keptBy(look);
    const isBetter = RANK[kept?.form ?? 'none'] > RANK[record.kept?.form ?? 'none'];
    const isDue = record.charge === 'due';
    if (!isDue && !isBetter) return undefined;
    return { ...(isDue ? { charge: 'settled' as const } : {}), ...(isBetter ? { kept } : {}) };
  },
  refusal({ status, headers, body }, route, now) {
    const answer = { status, headers, body: body.toString('utf8', 0, MAX_ERROR_BYTES) };
    const { error } = statusFailure(answer, route, now);
    return toFamilyError(FAMILY, error, [status]);
  },
});

/** Charges also for what costs nothing, so that its end is recorded. */
function chargeOf(record: InteractionRecord, seen: Interaction): TaskCharge {
  const result = isFruitless(seen.status) ? 'error' : 'ok';
  if (!isBillable(seen)) return { ...NOTHING, result };
  const told = toInteractionUsage(seen.value['usage']);
  const usage = told ?? estimateOf(record, seen);
  return { result, usage, estimated: !told, ...priceOf(usage, record.pricing) };
}

function estimateOf({ inputBytes }: InteractionRecord, { value }: Interaction): Usage {
  const output = measureOutput(value['steps'] ?? value['outputs']);
  return { ...NO_USAGE, input: estimateTokens(inputBytes), output: estimateTokens(output) };
}

function keptBy(look: SeenInteraction | Lost | undefined): SeenInteraction['kept'] {
  return typeof look === 'object' ? look.kept : undefined;
}
