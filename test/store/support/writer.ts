import { systemClock } from '../../../src/core/time/clock.ts';
import { openStore } from '../../../src/store/open-store.ts';

/**
 * A process of its own: `node writer.ts <driver> <path> <writer>` appends to the shared sequence
 * until it is killed and prints the number of each commit once that commit is acknowledged.
 */
const [driver = '', path = '', writer = ''] = process.argv.slice(2);
const store = await openStore({ driver, path }, { clock: systemClock });
process.stdout.write('ready\n');

/** The three keys are written together; a reader that finds one without the others found a tear. */
async function append(n: number): Promise<void> {
  const result = await store.commit([
    { type: 'put', key: ['a', writer, n], value: n },
    { type: 'put', key: ['b', writer, n], value: 'x'.repeat(n % 5_000), ifAbsent: true },
    { type: 'put', key: ['head', writer], value: n },
  ]);
  await store.increment(['count'], 1);
  if (!result.ok) throw new Error('a fresh key was taken');
  process.stdout.write(`${n}\n`);
}

for (let n = 1; ; n += 8) await Promise.all(Array.from({ length: 8 }, (_, i) => append(n + i)));
