import type { Clock } from '../../core/clock.ts';
import { NO_USAGE } from '../../core/usage.ts';
import { isFruitless, isOver, isTerminal } from '../../protocols/interactions/interaction.ts';
import type { Interaction } from '../../protocols/interactions/interaction.ts';
import { measureOutput } from '../../protocols/interactions/interactions-output.ts';
import { toInteractionUsage } from '../../protocols/interactions/interactions-usage.ts';
import type { Charges } from '../../usage/charges.ts';
import type { RequestOutcome } from '../../usage/ledger.ts';
import { costOf, estimateTokens } from '../../usage/pricing.ts';
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

async function charge(
  record: InteractionRecord,
  seen: Interaction,
  { charges, clock }: SettleDeps,
): Promise<void> {
  if (!isBillable(seen)) return charges.release(record.call);
  await charges.charge({
    id: record.call,
    principal: record.payer,
    surface: 'interactions',
    model: record.model,
    at: record.at,
    outcome: outcomeOf(record, seen, clock.now()),
  });
}

function outcomeOf(record: InteractionRecord, seen: Interaction, now: number): RequestOutcome {
  const told = toInteractionUsage(seen.value['usage']);
  const usage = told ?? estimateOf(record, seen);
  return {
    status: 200,
    result: isTerminal(seen.status) && isFruitless(seen.status) ? 'error' : 'ok',
    answeredBy: {
      model: record.answeredBy,
      provider: record.provider,
      upstreamModel: record.upstreamModel,
    },
    attempts: [],
    usage,
    estimated: told === undefined,
    cost: costOf(usage, record.pricing),
    losses: [],
    overheadUs: 0,
    firstContentMs: null,
    totalMs: Math.max(0, now - record.at),
  };
}

function estimateOf({ inputBytes }: InteractionRecord, { value }: Interaction) {
  const output = measureOutput(value['steps'] ?? value['outputs']);
  return { ...NO_USAGE, input: estimateTokens(inputBytes), output: estimateTokens(output) };
}
