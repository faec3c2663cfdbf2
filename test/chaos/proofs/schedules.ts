import type { Stage } from '../stage.ts';
import { readAll, toProof } from './pages.ts';
import type { Proof } from './pages.ts';

const MINUTE = 60_000;

/**
 * Of the instants that passed while no gateway could fire, the last one alone is made up for (requirement
 * scheduler.missed-slots). One that is well for so long could have.
 */
const WELL_MS = 5_000;

/** One run for each instant, none left out; one Session for each run that succeeded, and no more. */
export async function proveSchedules(stage: Stage, pausedAt: number): Promise<Proof> {
  const { journal, nodes } = stage;
  const [node] = nodes;
  const runs = await readAll(stage, node!, '/v1/deployment_runs?limit=100');
  const sessions = await readAll(stage, node!, '/v1/sessions?limit=100');
  const faults: string[] = [];
  let checked = 0;
  const own = sessions.filter(({ entry_point: point }) => point === 'schedule');
  for (const { id, isCron, madeAt } of journal.deployments) {
    const mine = runs.filter(({ deployment_id: of }) => of === id);
    const instants = mine
      .filter(({ trigger_context: { type } }) => type === 'schedule')
      .map(({ trigger_context: { scheduled_at: at } }) => Date.parse(at));
    checked += mine.length;
    if (new Set(instants).size !== instants.length) faults.push(`${id}: an instant has two runs`);
    if (instants.some((instant) => instant % MINUTE !== 0)) faults.push(`${id}: a run between`);
    // The last one may have been due in the very moment of the pause.
    const until = pausedAt - MINUTE / 2;
    const due = isCron ? minutesBetween(madeAt, until) : [];
    const missing = due.filter((one) => !instants.includes(one));
    for (const instant of missing.filter((one) => couldFire(stage, one)))
      faults.push(`${id}: no run at ${new Date(instant).toISOString()}`);
    if (!isCron && instants.length > 0) faults.push(`${id}: a run that nobody asked for`);
    const told = mine.flatMap(({ session_id: session }): string[] =>
      session === null ? [] : [String(session)],
    );
    const begun = own
      .filter(({ deployment_id: of }) => of === id)
      .map((session): string => String(session.id));
    const failed = mine.filter(({ error }) => error !== null).length;
    if (told.length + failed !== mine.length) faults.push(`${id}: a run without an outcome`);
    if (String(told.toSorted()) !== String(begun.toSorted()))
      faults.push(`${id}: ${told.length} runs succeeded, ${begun.length} Sessions were begun`);
  }
  return toProof('one run for each instant, one Session for each run', checked, faults);
}

/** Some gateway was well between the instant and the next one. */
function couldFire({ nodes, time }: Stage, instant: number): boolean {
  const from = time.toMachine(instant);
  const until = time.toMachine(instant + MINUTE) - WELL_MS;
  for (let at = from; at <= until; at += 100)
    if (nodes.some((node) => !node.wasTroubled(at, at + WELL_MS))) return true;
  return false;
}

function minutesBetween(from: number, until: number): number[] {
  const first = Math.floor(from / MINUTE) + 1;
  const count = Math.max(0, Math.ceil(until / MINUTE) - first);
  return Array.from({ length: count }, (_, index) => (first + index) * MINUTE);
}
