import { defineBackend } from '../../backend.ts';

/** A store that ends with its process. */
export const memory = defineBackend({
  drivers: ['memory'],
  scope: 'process',
  packages: [],
  place: { kind: 'memory' },
  async open(_config, { clock }) {
    const { openMemoryStore } = await import('./open-memory-store.ts');
    return openMemoryStore(clock);
  },
});
