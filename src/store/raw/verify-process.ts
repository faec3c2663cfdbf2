import { systemClock } from '../../core/time/clock.ts';
import { damaged } from '../damage.ts';
import type { StoreConfig } from '../store-config.ts';
import { StoreError } from '../store.ts';
import { openRaw } from './open-raw.ts';
import type { ApartMessage, ApartReport } from './verify-apart.ts';
import { verifyStore } from './verify-store.ts';

const UNREADABLE = 'it cannot be read';

/** A process that reads the store that it is sent, and may end over its content. */
process.once('message', (config: StoreConfig) => void answer(config));

async function answer(config: StoreConfig): Promise<void> {
  try {
    tell({ report: await read(config) });
  } catch (error) {
    const { code, message } = error instanceof StoreError ? error : damaged(UNREADABLE);
    tell({ failure: { code, message } });
  } finally {
    process.disconnect();
  }
}

async function read(config: StoreConfig): Promise<ApartReport> {
  const store = await openRaw(config, { clock: systemClock, isHeld: false });
  try {
    const { signal } = new AbortController();
    const verified = await verifyStore(store, { signal, onRows: (rows) => tell({ rows }) });
    return { format: store.format, meta: store.meta, verified };
  } finally {
    await store.close();
  }
}

function tell(message: ApartMessage): void {
  process.send?.(message);
}
