import { systemClock } from '../../../src/core/time/clock.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { openRaw } from '../../../src/store/raw/open-raw.ts';
import { verifyStore } from '../../../src/store/raw/verify-store.ts';

/** What became of one folder: nothing where all of it could be read and written. */
export interface DamageReport {
  readonly path: string;
  readonly failures: readonly string[];
}

/** Does with each folder that it is sent what a gateway, a backup and a check of the store do. */
process.on('message', (path: string) => void answer(path));
process.send?.('ready');

async function answer(path: string): Promise<void> {
  const failures: string[] = [];
  for (const use of [serve, check])
    await use(path).catch((error: Error) => failures.push(told(error)));
  process.send?.({ path, failures } satisfies DamageReport);
}

function told(error: Error): string {
  return `${error.name} ${'code' in error ? String(error.code) : ''}: ${error.message}`;
}

async function serve(path: string): Promise<void> {
  const store = await openStore({ driver: 'lmdb', path }, { clock: systemClock });
  try {
    for (const prefix of ['row', 'big', 'lease'])
      for (const { key } of await store.list({ prefix: [prefix], limit: 1_000 }))
        await store.get(key);
    for (let i = 0; i < 3; i++)
      await store.commit([
        { type: 'put', key: ['row', i * 17], value: { again: i }, ttlMs: 60_000 },
        { type: 'delete', key: ['row', i * 23 + 1] },
        { type: 'put', key: ['big', i], value: 'y'.repeat(6_000) },
      ]);
    await store.ping();
  } finally {
    await store.close();
  }
}

async function check(path: string): Promise<void> {
  const raw = await openRaw({ driver: 'lmdb', path }, { clock: systemClock, isHeld: false });
  try {
    const { signal } = new AbortController();
    const { problems } = await verifyStore(raw, { signal, onRows: () => undefined });
    for (const { what } of problems) throw new Error(`problem: ${what}`);
  } finally {
    await raw.close();
  }
}
