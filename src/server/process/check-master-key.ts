import { SealError } from '../../core/seal.ts';
import type { Sealer } from '../../core/seal.ts';
import type { Key, Store } from '../../store/store.ts';

const KEY: Key = ['seal', 'check'];
const PLACE = 'seal/check';

/**
 * A store remembers under which master key it was made, so that a wrong key stops the start instead
 * of making every secret unreadable (requirement store.secrets.key-rotation).
 *
 * @throws Error that says what to do
 */
export async function checkMasterKey(store: Store, sealer: Sealer): Promise<void> {
  const written = await store.get<string>(KEY);
  if (!written) {
    await store.commit([
      { type: 'put', key: KEY, value: sealer.seal('ok', PLACE), ifAbsent: true },
    ]);
    return;
  }
  try {
    sealer.open(written.value, PLACE);
  } catch (error) {
    if (!(error instanceof SealError) || error.isChanged) throw error;
    throw new Error(
      'the master key does not fit this store; configure the key it was made with (server.secrets.master_key or master_key_file), or list it under server.secrets.previous_keys',
      { cause: error },
    );
  }
}
