import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { emptyDirectory } from '../each-file/empty-directory.ts';

const PACKAGES = fileURLToPath(new URL('../../../node_modules', import.meta.url));

const bundles = new Map<string, Promise<string>>();

/**
 * A script in TypeScript as JavaScript that lies in a directory of the test file, for processes that are
 * started more than once: a loader that compiles each of its modules takes longer than the work of the script. Files
 * next to its modules are found where these are.
 */
export async function bundleScript(script: string): Promise<string> {
  const known = bundles.get(script);
  // The directory of a former test file is gone with it.
  if (known && existsSync(await known)) return known;
  if (bundles.get(script) === known) bundles.set(script, bundle(script));
  return bundles.get(script)!;
}

async function bundle(script: string): Promise<string> {
  const directory = await emptyDirectory();
  // Some packages are loaded by names that only the script knows.
  await symlink(PACKAGES, join(directory, 'node_modules'));
  const name = `${basename(script, '.ts')}.mjs`;
  const made = await rolldown({
    input: script,
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    logLevel: 'warn',
    plugins: [{ name: 'place', transform: (code, id) => placed(code, id) }],
  });
  await made.write({
    dir: directory,
    format: 'esm',
    entryFileNames: name,
    chunkFileNames: '[name]-[hash].mjs',
  });
  await made.close();
  return join(directory, name);
}

/** The text of a module that knows where its file is. */
function placed(code: string, id: string): string {
  return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
}
