import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { storeConformance } from '../conformance/store.ts';

storeConformance('memory', async (clock) => ({ store: openMemoryStore(clock) }));
