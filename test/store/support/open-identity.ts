import { systemClock } from '../../../src/core/time/clock.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { openRaw } from '../../../src/store/raw/open-raw.ts';

/** A process of its own: `node open-identity.ts <driver> <path>` opens a store and prints who it is. */
const [driver = '', path = ''] = process.argv.slice(2);
const store = await openStore({ driver, path }, { clock: systemClock });
await store.close();
const raw = await openRaw({ driver, path }, { clock: systemClock, isHeld: false });
process.stdout.write(`${raw.meta.identity}\n`);
await raw.close();
