import type { NamedNote } from '../journal.ts';
import type { Stage } from '../stage.ts';
import { readAll, toProof } from './pages.ts';
import type { Proof } from './pages.ts';

/**
 * Of each named call there is exactly one thing, or at most one where nobody was told of it. Messages are
 * judged with their Sessions.
 */
export async function proveNamedCalls(stage: Stage): Promise<Proof> {
  const { journal, nodes, upstream } = stage;
  const read = (path: string) => readAll(stage, nodes[0]!, `${path}?limit=100`);
  const agents = await read('/v1/agents');
  const sessions = await read('/v1/sessions');
  const runs = await read('/v1/deployment_runs');
  const count: Record<NamedNote['kind'], (note: NamedNote) => number | undefined> = {
    agent: ({ mark }) => agents.filter(({ name }) => name === mark).length,
    session: ({ mark }) => sessions.filter(({ title }) => title === mark).length,
    run: ({ mark }) => upstream.calls.filter((call) => call.mark === mark).length,
    trigger: () => undefined,
    message: () => undefined,
  };
  const faults = journal.named.flatMap((note) => {
    const { kind, mark, outcome, ids } = note;
    const found = count[kind](note);
    const least = outcome === 'made' ? 1 : 0;
    const isRight = found === undefined || (found >= least && found <= 1);
    return [
      ...(isRight ? [] : [`${kind} ${mark} (${outcome}): there are ${found}`]),
      ...(new Set(ids).size > 1 ? [`${kind} ${mark} was answered with ${ids.join(' and ')}`] : []),
      ...(outcome === 'open' ? [`${kind} ${mark} was never answered`] : []),
      ...(outcome === 'unknown' && kind !== 'run' ? [`${kind} ${mark}: nobody knows`] : []),
    ];
  });
  const triggers = journal.named.filter(({ kind }) => kind === 'trigger');
  const place = triggers[0]?.place;
  const made = runs.filter(({ deployment_id: of }) => of === place).length;
  if (made !== triggers.filter(({ outcome }) => outcome === 'made').length)
    faults.push(`${triggers.length} named triggers, ${made} runs`);
  const unknown = journal.named.filter(({ outcome }) => outcome === 'unknown').length;
  const title = `each named call was made once (of ${unknown} runs nobody knows)`;
  return toProof(title, journal.named.length, faults);
}
