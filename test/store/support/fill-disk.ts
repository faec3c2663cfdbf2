import { systemClock } from '../../../src/core/time/clock.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { StoreError } from '../../../src/store/store.ts';

/**
 * A process whose files may not grow past a limit: `node fill-disk.ts <path>` writes until the store
 * refuses, then prints as JSON what still works and what works again when space returns.
 */
const [path = ''] = process.argv.slice(2);
const store = await openStore({ driver: 'lmdb', path }, { clock: systemClock });
const block = 'x'.repeat(100_000);
const write = (n: number) => store.commit([{ type: 'put', key: ['block', n], value: block }]);

async function codeOf(action: Promise<unknown>): Promise<string> {
  try {
    await action;
    return 'ok';
  } catch (error) {
    return error instanceof StoreError ? error.code : String(error);
  }
}

let written = 0;
let refusal = 'ok';
while (written < 1_000 && refusal === 'ok') {
  refusal = await codeOf(write(written));
  if (refusal === 'ok') written++;
}
const together = await Promise.all(Array.from({ length: 5 }, (_, i) => codeOf(write(2_000 + i))));
const guarded = await codeOf(
  store.commit([{ type: 'put', key: ['guarded'], value: block.repeat(10), ifAbsent: true }]),
);
const readable = (await store.list({ prefix: ['block'] })).filter((e) => e.value === block).length;
await store.commit(
  Array.from({ length: written }, (_, n) => ({ type: 'delete' as const, key: ['block', n] })),
);
// The pages of a deletion are free once the transaction after it has begun.
await store.ping();
await store.ping();
const recovered = await codeOf(write(3_000));
await store.close();
process.stdout.write(
  `RESULT ${JSON.stringify({ written, refusal, together, guarded, readable, recovered })}\n`,
);
