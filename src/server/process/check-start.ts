import { stat } from 'node:fs/promises';
import type { ReferenceSources, SecretRef } from '../../config/objects/references.ts';
import { resolveSecret } from '../../config/objects/references.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import { findRuntime } from '../../core/process/runtime-file.ts';
import { systemClock } from '../../core/time/clock.ts';
import { backendOf, isInFiles } from '../../store/find-backend.ts';
import { encodeKey } from '../../store/key-codec.ts';
import { openToLook } from '../../store/open-store.ts';
import type { RawStore } from '../../store/raw/raw-store.ts';
import type { Store } from '../../store/store.ts';
import { fromEnvelope } from '../../store/value-codec.ts';
import { isSealed, openMasterKeys } from '../secrets/master-keys.ts';
import { assertNotEmptied } from './first-start.ts';
import { assertUsable, preflight } from './preflight.ts';
import { checkScope } from './workers.ts';

/**
 * Looks at everything that a start needs: what {@link preflight} looks at, then whether the store can be
 * opened, by so many processes, and whether the master key is its own. Makes and changes nothing.
 *
 * @throws Error with a sentence that says what to do
 */
export async function checkStart(server: ServerConfig, sources: ReferenceSources): Promise<void> {
  await preflight(server, sources);
  const { store } = server;
  if (isInFiles(store.driver)) await assertUsable(store.path, 'server.store.path');
  await assertNotEmptied(server);
  const rows = await openToLook(store, { clock: systemClock });
  try {
    const scope = backendOf(store.driver)?.scope ?? 'process';
    if (server.workers > 1) checkScope({ scope, driver: store.driver });
    await checkMasterKey(server, { sources, rows });
  } finally {
    await rows?.close();
  }
}

/** A file of a new store that is not there is made by the start. */
async function checkMasterKey(
  { secrets }: ServerConfig,
  { sources, rows }: { sources: ReferenceSources; rows: RawStore | undefined },
): Promise<void> {
  const file = secrets.masterKey ? undefined : secrets.masterKeyFile;
  const isThere = file === undefined || (await stat(file).catch(() => undefined)) !== undefined;
  const reader = toReader(rows);
  // A start makes the file.
  if (!isThere && !(await isSealed(reader))) return;
  const resolve = (reference: SecretRef): Promise<string> => resolveSecret(reference, sources);
  await openMasterKeys(reader, { secrets, resolve, mayMake: isThere });
}

/** Reads single rows, and drops every write. */
function toReader(rows: RawStore | undefined): Pick<Store, 'get' | 'commit'> {
  return {
    async get(key) {
      const bytes = encodeKey(key);
      const found = await rows?.read(bytes.subarray(0, -1));
      const row = found?.find((one) => one.key.equals(bytes));
      return row && { key, value: fromEnvelope(row.envelope), version: String(row.version) };
    },
    commit: async () => ({ ok: true, version: '0' }),
  };
}

/** Says that another process serves the folder; empty where none is known. */
export function noteNeighbour(dataDir: string): string {
  const found = findRuntime(dataDir);
  if (found?.state !== 'running' || found.record.pid === process.pid) return '';
  const { pid, url, since } = found.record;
  const lines = [
    `process ${pid} serves this folder already: ${url}${since === undefined ? '' : `, since ${since}`} (${found.file})`,
    'this is one more process on the same data; commands here keep asking the first one',
    'to have the first one follow its files now: gateway reload; to end it: gateway stop',
  ];
  // Without a terminal it is one line of the log.
  return `${lines.join(';\n')}\n`;
}

/** The advice for a taken port where the gateway of this folder has it; undefined for another program. */
export function explainTaken(error: unknown, { dataDir }: ServerConfig): string | undefined {
  const cause =
    error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  const found = cause?.code === 'EADDRINUSE' ? findRuntime(dataDir) : undefined;
  const port = (cause as { port?: number } | undefined)?.port;
  if (found?.state !== 'running' || Number(new URL(found.record.url).port) !== port)
    return undefined;
  const { pid, url } = found.record;
  return `the gateway of this folder runs already: process ${pid} at ${url}; \`gateway status\` shows it, \`gateway reload\` has it follow its files now, \`gateway stop\` ends it`;
}
