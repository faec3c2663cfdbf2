import type { AuditLog } from '../../audit/audit-log.ts';
import type { AuditNote } from '../../audit/audit-entry.ts';
import { approximateSize } from '../../core/json/approximate-size.ts';
import { GatewayError } from '../../core/errors.ts';
import { factsOf } from '../../core/kinds.ts';
import type { Key, Op, Store, Version } from '../../store/store.ts';
import { ChangeLog } from '../changes/change-log.ts';
import type { ListQuery, Scope, Stored } from './stored.ts';
import type { ResourceDefinition, Target } from './define-resource.ts';
import { MAX_NAME_LENGTH } from '../fields/fields.ts';
import {
  EPOCH_KEY,
  kindPrefix,
  nameKey,
  ownedKey,
  ownedPrefix,
  resourceKey,
  uniqueKey,
  versionKey,
  versionPrefix,
} from './storage-keys.ts';

/** Attempts of a write that keeps meeting other writers; each time one of them got through. */
const MAX_ATTEMPTS = 100;
const PAGE = 500;
const MIN_PAGE = 8;
const GROWTH = 8;
/** Characters of JSON that a page may have before the next one, many times as long, is read. */
const SMALL_PAGE = 256 * 1024;

export interface Row {
  stored: Stored;
  version: Version;
}

/** Companions of a commit. */
interface Noted {
  note: AuditNote;
  /** Notes of what else the commit changes. */
  further?: readonly AuditNote[] | undefined;
  heldEpoch?: Version | undefined;
}

/** Resources as rows of the store: found by id or name, listed, written together with the epoch. */
export class ResourceRows {
  private readonly store: Store;
  private readonly audit: AuditLog;
  private readonly log: ChangeLog;

  constructor(store: Store, audit: AuditLog) {
    this.store = store;
    this.audit = audit;
    this.log = new ChangeLog(store);
  }

  /** Undefined also for one of another organization. */
  async load(
    definition: ResourceDefinition,
    idOrName: string,
    scope: Scope,
  ): Promise<Row | undefined> {
    const { kind, organizationScoped } = definition;
    if (idOrName.length > MAX_NAME_LENGTH) return undefined;
    const byId = await this.store.get<Stored>(resourceKey(kind, idOrName));
    const found = byId ?? (await this.loadByName(definition, idOrName, scope));
    if (!found) return undefined;
    const owner = scope.organization;
    const foreign = organizationScoped && owner !== null && found.value.organization !== owner;
    return foreign ? undefined : { stored: found.value, version: found.version };
  }

  /** @throws GatewayError `not_found`, or `conflict` when the version is not the expected one */
  async mustLoad({ definition, idOrName, expectedVersion, ...scope }: Target): Promise<Row> {
    const row = await this.load(definition, idOrName, scope);
    if (!row) throw new GatewayError('not_found', { message: `${definition.kind} not found` });
    if (expectedVersion === undefined || expectedVersion === row.stored.version) return row;
    throw new GatewayError('conflict', {
      message: `version is ${row.stored.version}, not ${expectedVersion}: it was changed meanwhile`,
      type: 'version_conflict',
      param: 'expected_version',
      retry: false,
    });
  }

  async list(definition: ResourceDefinition, query: ListQuery): Promise<Stored[]> {
    const { limit, maxSize = Infinity, matches } = query;
    const found: Stored[] = [];
    let size = 0;
    for await (const stored of this.walk(definition, query)) {
      if (!matches(stored)) continue;
      found.push(stored);
      size += approximateSize(stored.spec);
      if (found.length >= limit || size >= maxSize) break;
    }
    return found;
  }

  /** Undefined for one that does not exist. */
  async byIds(
    { kind }: ResourceDefinition,
    ids: readonly string[],
  ): Promise<Map<string, Stored | undefined>> {
    const rows = await Promise.all(ids.map((id) => this.store.get<Stored>(resourceKey(kind, id))));
    return new Map(rows.map((row, index) => [ids[index] as string, row?.value]));
  }

  /** A resource as it was at a version; of one that is versioned. */
  async version({ kind, id }: Stored, version: number): Promise<Stored | undefined> {
    return (await this.store.get<Stored>(versionKey(kind, id, version)))?.value;
  }

  /** Its versions, newest first, older than the given one. */
  async versions(
    { kind, id }: Stored,
    { before, limit }: { before?: number | undefined; limit: number },
  ): Promise<Stored[]> {
    const after = before === undefined ? {} : { after: versionKey(kind, id, before) };
    const prefix = versionPrefix(kind, id);
    const page = await this.store.list<Stored>({ prefix, reverse: true, limit, ...after });
    return page.map(({ value }) => value);
  }

  /** Every row after `after`, in order; a few are read at a time, more where they are small. */
  private async *walk(definition: ResourceDefinition, query: ListQuery): AsyncGenerator<Stored> {
    let { after } = query;
    let limit = MIN_PAGE;
    for (;;) {
      const { rows, last } = await this.page(definition, { ...query, after, limit });
      yield* rows;
      if (last === undefined) return;
      after = last;
      const isSmall = approximateSize(rows.map(({ spec }) => spec)) < SMALL_PAGE;
      limit = isSmall ? Math.min(PAGE, limit * GROWTH) : MIN_PAGE;
    }
  }

  /** The next rows, and the id to continue from unless they are the last. */
  private async page(
    definition: ResourceDefinition,
    { organization, after, order, limit }: ListQuery,
  ): Promise<{ rows: Stored[]; last: string | undefined }> {
    const { kind, organizationScoped, newestFirst = false } = definition;
    const reverse = order === undefined ? newestFirst : order === 'desc';
    if (!organizationScoped || organization === null) {
      const from = after === undefined ? {} : { after: resourceKey(kind, after) };
      const walk = { prefix: kindPrefix(kind), limit, reverse, ...from };
      const page = await this.store.list<Stored>(walk);
      const rows = page.map(({ value }) => value);
      return { rows, last: rows.length < limit ? undefined : rows.at(-1)?.id };
    }
    const from = after === undefined ? {} : { after: ownedKey(kind, organization, after) };
    const prefix = ownedPrefix(kind, organization);
    const page = await this.store.list({ prefix, limit, reverse, ...from });
    const ids = page.map(({ key }) => String(key.at(-1)));
    const rows = await Promise.all(ids.map((id) => this.store.get<Stored>(resourceKey(kind, id))));
    return {
      // One that was deleted between the two looks is gone.
      rows: rows.flatMap((row) => (row ? [row.value] : [])),
      last: ids.length < limit ? undefined : ids.at(-1),
    };
  }

  /** The version of the epoch row, to be held until a commit. */
  async epoch(): Promise<Version | undefined> {
    return (await this.store.get(EPOCH_KEY))?.version;
  }

  /** The key in whose way another writer came, or undefined when all is written, the notes with it. */
  commit(ops: readonly Op[], { note, further, heldEpoch }: Noted): Promise<Key | undefined> {
    const commit = (all: readonly Op[]) => this.audit.commit(all, note, further);
    return this.log.commit(ops, { heldEpoch, commit });
  }

  /** A name or key value of another resource will not become free by trying again. */
  async refuseTaken(definition: ResourceDefinition, stored: Stored, conflict: Key): Promise<void> {
    for (const field of definition.unique ?? ['name']) {
      const value = stored.spec[field];
      if (typeof value !== 'string') continue;
      const taken = await this.store.get<string>(uniqueKey(stored, field, value));
      if (!taken || taken.value === stored.id) continue;
      throw new GatewayError('conflict', {
        message: `${field}: ${factsOf(definition.collection).word} \`${value}\` exists already as ${taken.value}`,
        type: `${field}_taken`,
        param: field,
        retry: false,
      });
    }
    if (conflict[0] !== 'key-hash') return;
    const message = 'value: this key exists already';
    throw new GatewayError('conflict', {
      message,
      type: 'key_exists',
      param: 'value',
      retry: false,
    });
  }

  private async loadByName(definition: ResourceDefinition, name: string, scope: Scope) {
    if (!(definition.unique ?? ['name']).includes('name')) return undefined;
    const owner = definition.organizationScoped ? (scope.organization ?? scope.home ?? null) : null;
    const index = await this.store.get<string>(nameKey(definition.kind, owner, name));
    return index && this.store.get<Stored>(resourceKey(definition.kind, index.value));
  }
}

/** Repeats what lost a race against another writer; undefined means lost. */
export async function untilWon<T>(write: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    const done = await write();
    if (done !== undefined) return done;
  }
  throw new GatewayError('conflict', { message: 'too many writers at once; try again' });
}
