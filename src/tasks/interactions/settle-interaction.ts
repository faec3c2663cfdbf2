import type { Clock } from '../../core/time/clock.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { isFruitless, isOver } from '../../protocols/interactions/interaction.ts';
import type { Interaction } from '../../protocols/interactions/interaction.ts';
import { measureOutput } from '../../protocols/interactions/interactions-output.ts';
import { toInteractionUsage } from '../../protocols/interactions/interactions-usage.ts';
import type { Charges } from '../../usage/spend/charges.ts';
import type { RequestOutcome } from '../../usage/ledger/ledger.ts';
import { costOf, estimateTokens } from '../../usage/spend/pricing.ts';
import type {
  InteractionEntry,
  InteractionRecord,
  InteractionRecords,
  KeptInteraction,
} from './interaction-records.ts';

export interface SettleDeps {
  clock: Clock;
  records: InteractionRecords;
  charges: Charges;
}

/** Better forms take the place of worse ones. */
const RANK = { none: 0, event: 1, lossy: 2, whole: 3 } as const;

/**
 * Takes note of an Interaction that is over: charges for it where that is due, once over all processes,
 * and keeps what a later poll may need. Does nothing while it runs. Rejects with `persistence_failed`
 * or `StoreError`; to be repeated then.
 *
 * @param kept what a terminal one leaves; undefined: nothing
 */
export async function settleInteraction(
  entry: InteractionEntry,
  { seen, kept }: { seen: Interaction; kept: KeptInteraction | undefined },
  deps: SettleDeps,
): Promise<void> {
  const { value: record } = entry;
  if (!isOver(seen)) return;
  const isDue = record.charge === 'due';
  const isBetter = RANK[kept?.form ?? 'none'] > RANK[record.kept?.form ?? 'none'];
  if (isDue) await charge(record, seen, deps);
  if (!isDue && !isBetter) return;
  // Whoever was faster noted the same.
  await deps.records.change(entry, {
    ...(isDue ? { charge: 'settled' as const } : {}),
    ...(isBetter ? { kept } : {}),
  });
}

/** Whether there is anything to pay: failures cost only what the provider says that they did. */
export function isBillable({ status, value }: Interaction): boolean {
  return !isFruitless(status) || toInteractionUsage(value['usage']) !== undefined;
}

/** Closes what nobody will ever see the end of, without a cost. Rejects like `settleInteraction`. */
export async function giveUpInteraction(entry: InteractionEntry, deps: SettleDeps): Promise<void> {
  await charge(entry.value, undefined, deps);
  await deps.records.change(entry, { charge: 'settled' });
}

/** Also of what costs nothing: it gives back what was held, whoever comes first. */
async function charge(
  record: InteractionRecord,
  seen: Interaction | undefined,
  { charges, clock }: SettleDeps,
): Promise<void> {
  await charges.charge({
    id: record.call,
    principal: record.payer,
    surface: 'interactions',
    model: record.model,
    at: record.at,
    outcome: {
      status: 200,
      ...endOf(record, seen),
      answeredBy: {
        model: record.answeredBy,
        provider: record.provider,
        upstreamModel: record.upstreamModel,
      },
      attempts: [],
      losses: [],
      overheadUs: 0,
      firstContentMs: null,
      totalMs: Math.max(0, clock.now() - record.at),
    },
  });
}

type End = Pick<RequestOutcome, 'result' | 'errorCode' | 'usage' | 'estimated' | 'cost'>;

function endOf(record: InteractionRecord, seen: Interaction | undefined): End {
  const nothing = { usage: NO_USAGE, estimated: false, cost: 0 };
  if (!seen) return { ...nothing, result: 'interrupted', errorCode: 'interaction_lost' };
  const result = isFruitless(seen.status) ? 'error' : 'ok';
  if (!isBillable(seen)) return { ...nothing, result };
  const told = toInteractionUsage(seen.value['usage']);
  const usage = told ?? estimateOf(record, seen);
  return { result, usage, estimated: !told, cost: costOf(usage, record.pricing) };
}

function estimateOf({ inputBytes }: InteractionRecord, { value }: Interaction): Usage {
  const output = measureOutput(value['steps'] ?? value['outputs']);
  return { ...NO_USAGE, input: estimateTokens(inputBytes), output: estimateTokens(output) };
}
