import { getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterAll } from 'vitest';
import { removeDirectories } from './empty-directory.ts';

// Hooks of every test file: a module that several files share would run its own for the first alone.

/** Commands behind a proxy replace it for their whole process. */
const dispatcher = getGlobalDispatcher();

afterAll(async () => {
  setGlobalDispatcher(dispatcher);
  await removeDirectories();
});
