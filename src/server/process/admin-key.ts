import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Origin } from '../../audit/audit-entry.ts';
import { resolveSecret } from '../../config/objects/references.ts';
import type { ReferenceSources } from '../../config/objects/references.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import { SCOPES } from '../../core/access.ts';
import { atPath } from '../../core/disk-fault.ts';
import { GatewayError } from '../../core/errors.ts';
import { createIdSource } from '../../core/ids.ts';
import { createLog } from '../../core/log.ts';
import type { Clock } from '../../core/time/clock.ts';
import { newKeyValue } from '../../resources/kinds/key.ts';
import type { Stored } from '../../resources/store/stored.ts';
import { openStore } from '../../store/open-store.ts';
import { openRaw } from '../../store/raw/open-raw.ts';
import { openResources } from '../compose/open-resources.ts';
import type { LiveResources } from '../compose/open-resources.ts';
import { openMasterKeys } from '../secrets/master-keys.ts';
import { writeOnce } from '../secrets/write-once.ts';

export interface NewAdminKeyOptions {
  readonly server: ServerConfig;
  readonly sources: ReferenceSources;
  readonly clock: Clock;
  /** Who runs the command, for the audit log. */
  readonly by: Origin;
}

/** A key that may do what the new one may. */
export interface FormerAdminKey {
  readonly id: string;
  readonly name: string;
  /** Name that no other organization has for a key of its own; else the id. */
  readonly handle: string;
  /** Part of its value, which may be shown. */
  readonly hint: string;
  readonly createdAt: string;
}

export interface NewAdminKey {
  readonly id: string;
  readonly name: string;
  /** Name of its organization. */
  readonly organization: string;
  /** File that holds its value, mode 0600. */
  readonly file: string;
  /** Path of the former file, whose key this store does not take; undefined where there was none. */
  readonly keptFile: string | undefined;
  /** Keys with the scope admin that are still valid. */
  readonly former: readonly FormerAdminKey[];
}

const EVERYWHERE = { organization: null };
const NAME = 'admin';
const MOST_KEYS = 10_000;

/**
 * Makes a further admin key on a store whose admin key was lost, and writes its value to `admin.key` of the data
 * directory. Runs while no gateway has the store open, and with a running one where the store permits several
 * processes. The former keys stay as they are (requirement recovery.admin-key).
 *
 * @throws GatewayError `conflict` where the file holds an admin key that the store takes
 * @throws StoreError where there is no store, or another process holds it
 * @throws Error that says what to do where the master key is missing or does not fit
 */
export async function makeAdminKey(options: NewAdminKeyOptions): Promise<NewAdminKey> {
  const { server, sources, clock } = options;
  // A command with the wrong file must make no store.
  await (await openRaw(server.store, { clock, isHeld: false })).close();
  const store = await openStore(server.store, { clock });
  try {
    const resolve = (reference: Parameters<typeof resolveSecret>[0]) =>
      resolveSecret(reference, sources);
    const { secrets } = server;
    const { keys: masterKeys } = await openMasterKeys(store, { secrets, resolve, mayMake: false });
    const log = createLog({ clock, level: 'silent', format: 'text', write: () => undefined });
    const ids = createIdSource(clock);
    const parts = { config: server, firstContentSet: false, masterKeys, clock, ids, log };
    const resources = await openResources(store, parts);
    try {
      return await makeKey(resources, options);
    } finally {
      resources.close();
    }
  } finally {
    await store.close();
  }
}

async function makeKey(
  { repository, keys: directory }: LiveResources,
  { server, clock, by }: NewAdminKeyOptions,
): Promise<NewAdminKey> {
  const file = join(server.dataDir, 'admin.key');
  const present = await readKey(file);
  const found = present === undefined ? undefined : directory.lookup(present);
  const definition = repository.definitionOf('api_key');
  const query = { ...EVERYWHERE, limit: MOST_KEYS, matches: () => true };
  const all = await repository.list(definition, query);
  const admins = all.filter((key) => isAdmin(key, clock.now()));
  const own = typeof found === 'object' && admins.find(({ id }) => id === found.keyId);
  if (own)
    throw new GatewayError('conflict', {
      message: `${file} holds the admin key ${own.spec.name}, which this store takes`,
      retry: false,
    });
  const organization = await ownerOf(repository, admins);
  const names = new Set(
    all.filter((key) => key.organization === organization.id).map(({ spec }) => spec.name),
  );
  const name = freeName(names);
  const value = newKeyValue();
  const draft = `${file}.next`;
  await rm(draft, { force: true });
  await writeOnce(draft, { what: 'the admin key', make: () => value });
  const scope = { organization: organization.id, by };
  const made = await repository
    .create(definition, { name, scopes: [...SCOPES], value }, scope)
    .catch(async (error: unknown) => {
      await rm(draft, { force: true });
      throw error;
    });
  const keptFile = present === undefined ? undefined : await setAside(file, clock);
  await atPath(file, () => rename(draft, file));
  return {
    id: made.stored.id,
    name,
    organization: organization.spec.name,
    file,
    keptFile,
    former: admins.map((key) => toFormer(key, all)),
  };
}

/** Undefined where there is no file or nothing in it. */
async function readKey(file: string): Promise<string | undefined> {
  const text = await atPath(
    file,
    () =>
      readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return '';
        throw error;
      }),
    { verb: 'read' },
  );
  return text.trim() || undefined;
}

/** Valid, with the scope admin, and not bounded by a role. */
function isAdmin({ spec, state }: Stored, now: number): boolean {
  const { scopes, role, expires_at: expires } = spec;
  const isOver = typeof expires === 'string' && Date.parse(expires) <= now;
  const hasScope = Array.isArray(scopes) && scopes.includes('admin');
  return hasScope && (role ?? null) === null && state['revoked_at'] === null && !isOver;
}

/** The organization of the newest admin key, else `default`, else the first; of those that are enabled. */
async function ownerOf(
  repository: LiveResources['repository'],
  admins: readonly Stored[],
): Promise<Stored> {
  const definition = repository.definitionOf('organization');
  const enabled = await repository.list(definition, {
    ...EVERYWHERE,
    limit: MOST_KEYS,
    matches: ({ spec }) => spec['enabled'] !== false,
  });
  const former = admins.map(({ organization }) => organization).toReversed();
  const owner =
    former.map((id) => enabled.find((one) => one.id === id)).find((one) => one !== undefined) ??
    enabled.find(({ spec }) => spec.name === 'default') ??
    enabled[0];
  if (owner) return owner;
  throw new Error(
    'the store has no enabled organization that could own an admin key; `gateway start` on a new store makes one',
  );
}

function freeName(taken: ReadonlySet<unknown>): string {
  for (let number = 2, name = NAME; ; name = `${NAME}-${number++}`)
    if (!taken.has(name)) return name;
}

async function setAside(file: string, clock: Clock): Promise<string> {
  const stamp = new Date(clock.now()).toISOString().replace(/[:.]/g, '-');
  const aside = `${file}.before-${stamp}`;
  await atPath(aside, () => rename(file, aside));
  return aside;
}

function toFormer({ id, spec, state, createdAt }: Stored, all: readonly Stored[]): FormerAdminKey {
  const { name } = spec;
  const isUnique = all.filter((key) => key.spec.name === name).length === 1;
  return { id, name, handle: isUnique ? name : id, hint: String(state['hint']), createdAt };
}
