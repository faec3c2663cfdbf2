import { hasFailed } from './run-chaos.ts';
import type { ChaosResult } from './run-chaos.ts';

/** What one run did and proved, for people. */
export function toText(result: ChaosResult): string {
  const { backend, seed, seconds, ledger, faults, proofs, counts, recovery } = result;
  const lines = [
    '',
    `${backend}: ${toSetUp(result)}, ${seconds} s, ledger ${ledger}, seed ${seed}`,
    '',
    'faults',
    ...table(Object.entries(countBy(faults.map(({ kind }) => kind)))),
    '',
    'operations',
    ...table(
      Object.entries(counts).map(([what, outcomes]) => [
        what,
        Object.entries(outcomes)
          .map(([outcome, count]) => `${outcome} x ${count}`)
          .join(', '),
      ]),
    ),
    '',
    `proofs (ready after ${recovery.readyMs} ms, at rest after ${recovery.quietMs} ms)`,
    ...proofs.flatMap(({ title, checked, faults }) => [
      `  ${faults.length === 0 ? 'ok    ' : 'FAILED'} ${title}: ${checked}`,
      ...faults.map((fault) => `           ${fault}`),
    ]),
  ];
  if (!hasFailed(result)) return lines.join('\n');
  const schedule = faults.map(
    ({ kind, target, at, forMs }) => `  ${at} ms ${kind} ${target} for ${forMs} ms`,
  );
  return [...lines, '', `seed ${seed}; logs in ${result.directory}`, ...schedule].join('\n');
}

function toSetUp({ processes, workers = [1], rate }: ChaosResult): string {
  const crews = workers.some((count) => count > 1) ? ` with ${workers.join(' and ')} workers` : '';
  return `${processes} gateways${crews}, ${rate === 1 ? 'in real time' : `at ${rate} times the speed`}`;
}

function table(rows: readonly (readonly [string, string | number])[]): string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words.toSorted()) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
