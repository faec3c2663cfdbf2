import { setMaxListeners } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { carryOut } from './faults/carry-out.ts';
import { planFaults } from './faults/deck.ts';
import type { FaultNote } from './journal.ts';
import { apply, startApplies } from './load/applies.ts';
import { chat, startChats } from './load/chats.ts';
import { startKeys } from './load/keys.ts';
import { startNamedCalls } from './load/named-calls.ts';
import { makeSchedules, pauseSchedules, startTriggers } from './load/schedules.ts';
import { makeAgents, startSessions } from './load/sessions.ts';
import { proveAcknowledged } from './proofs/acknowledged.ts';
import { proveHonesty, proveNoOrphans, proveRecovery } from './proofs/conduct.ts';
import { proveLogs, proveTurns } from './proofs/histories.ts';
import type { Histories } from './proofs/histories.ts';
import { proveRevocations } from './proofs/keys.ts';
import { proveLedger, readLedger } from './proofs/ledger.ts';
import { proveRate, proveSpending } from './proofs/limits.ts';
import type { Proof } from './proofs/pages.ts';
import { proveNamedCalls } from './proofs/named-calls.ts';
import { proveSchedules } from './proofs/schedules.ts';
import { quiesce, within } from './quiesce.ts';
import type { Recovery } from './quiesce.ts';
import { createRandom } from './random.ts';
import { removeStage, setStage } from './set-stage.ts';
import type { LedgerMode, Stage } from './stage.ts';

/** Operations by kind and by what came of them. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface ChaosOptions {
  readonly backend: string;
  readonly processes: number;
  /** Of load and faults; what is proven afterwards comes on top. */
  readonly seconds: number;
  readonly seed: number;
  /** How many times as fast time goes on for the gateways; 1 is the machine's own time. */
  readonly rate: number;
  readonly ledger: LedgerMode;
  /** Workers of each gateway in turn; default: none has any. */
  readonly workers?: readonly number[];
  /** How often each kind of fault happens, and how often each time it kills. */
  readonly rounds: number;
  readonly kills: number;
  /** The load goes on until this is true of the operations so far, on a machine that is slow. */
  readonly isEnough?: (counts: Counts) => boolean;
  /** Told what goes on. */
  readonly onPhase?: (phase: string) => void;
}

export interface ChaosResult extends ChaosOptions {
  readonly counts: Counts;
  readonly faults: readonly FaultNote[];
  readonly proofs: readonly Proof[];
  readonly recovery: Recovery;
  /** Where logs are kept; only of a run that failed. */
  readonly directory: string | undefined;
}

export const hasFailed = ({ proofs }: ChaosResult): boolean =>
  proofs.some(({ faults }) => faults.length > 0);

/** One run on one backend; undefined where it is not installed. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult | undefined> {
  const random = createRandom(options.seed);
  const stage = await setStage({ ...options, random });
  if (!stage) return undefined;
  let isKept = true;
  try {
    const { recovery, proofs } = await perform(stage, options);
    const { journal, directory } = stage;
    const counts = journal.counts();
    const result = { ...options, counts, faults: journal.faults, proofs, recovery };
    isKept = hasFailed({ ...result, directory });
    return { ...result, directory: isKept ? directory : undefined };
  } finally {
    await stage.stop();
    if (!isKept) await removeStage(stage);
  }
}

async function perform(stage: Stage, { seed, onPhase, ...plan }: ChaosOptions) {
  const { seconds, isEnough = () => true } = plan;
  onPhase?.('making what the load needs');
  const agents = await makeAgents(stage);
  await makeSchedules(stage, agents);
  const refusal = await apply(stage, stage.nodes[0]!);
  if (refusal !== undefined) throw new Error(`the first apply failed: ${refusal}`);
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const faults = planFaults(stage, { ...plan, random: createRandom(seed) });
  const named = await startNamedCalls(stage, over.signal, agents);
  const load = [
    ...startChats(stage, over.signal),
    ...startKeys(stage, over.signal),
    ...startSessions(stage, over.signal, agents),
    ...startTriggers(stage, over.signal),
    ...startApplies(stage, over.signal),
    ...named,
  ];
  onPhase?.(`load and ${faults.length} faults for ${seconds} s`);
  await Promise.all([sleep(seconds * 1000), carryOut(stage, faults)]);
  await within(() => isEnough(stage.journal.counts()));
  over.abort();
  onPhase?.('waiting until all is well');
  const recovery = await quiesce(stage);
  await Promise.all(load);
  const pausedAt = await pauseSchedules(stage);
  onPhase?.(
    `proving (ready after ${recovery.readyMs} ms, at rest after ${recovery.quietMs} ms: ${recovery.unquiet.join()})`,
  );
  const { unquiet } = await quiesce(stage);
  const orphans = await Promise.all(stage.nodes.map((node) => node.findOrphans()));
  const whole = { ...recovery, unquiet: [...recovery.unquiet, ...unquiet, ...orphans.flat()] };
  return { recovery: whole, proofs: await prove(stage, { recovery: whole, pausedAt }) };
}

interface Settled {
  readonly recovery: Recovery;
  readonly pausedAt: number;
}

async function prove(stage: Stage, { recovery, pausedAt }: Settled): Promise<Proof[]> {
  for (const node of stage.nodes) await chat(stage, { key: stage.keys.client, what: 'chat', node });
  const { histories, proofs: logs } = await proveLogs(stage);
  const noted = (await readFile(stage.notes, 'utf8')).split('\n').filter((line) => line !== '');
  const effects = [...stage.tools.effects, ...noted];
  const spending = await proveSpending(stage, () => readLedger(stage));
  await quiesce(stage);
  const records = await readLedger(stage);
  await keepEvidence(stage, { records, histories: Object.fromEntries(byId(histories)) });
  return [
    await proveAcknowledged(stage),
    await proveNamedCalls(stage),
    ...logs,
    ...proveTurns(histories, { effects }),
    await proveSchedules(stage, pausedAt),
    spending,
    proveRate(stage),
    ...(await proveLedger(stage, records)),
    proveRevocations(stage),
    proveHonesty(stage),
    proveRecovery(stage, recovery),
    await proveNoOrphans(stage),
  ];
}

const byId = (histories: Histories) =>
  Array.from(histories, ([{ id }, events]) => [id, events] as const);

/** What a failed run is looked into with: beside the logs, what the provider, the clients and the gateways say. */
async function keepEvidence(stage: Stage, seen: object): Promise<void> {
  const { upstream, journal, tools, directory, nodes } = stage;
  const chats = journal.chats.map(({ reply, ...chat }) => ({
    ...chat,
    reply: { ...reply, node: reply.node.name, body: undefined },
  }));
  const troubles = nodes.map(({ name, troubles }) => ({ name, troubles }));
  const evidence = { calls: upstream.calls, effects: tools.effects, chats, troubles, ...seen };
  await writeFile(join(directory, 'evidence.json'), JSON.stringify(evidence, null, 1));
}
