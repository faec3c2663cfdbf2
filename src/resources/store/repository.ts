import type { AuditNote } from '../../audit/audit-entry.ts';
import { AuditLog } from '../../audit/audit-log.ts';
import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import type { IdSource } from '../../core/ids.ts';
import type { Sealer } from '../../core/seal.ts';
import type { Key, Op, Store, Version } from '../../store/store.ts';
import { toAuditNote } from '../changes/audit-note.ts';
import { Referrers } from '../changes/referrers.ts';
import { isArchived } from './stored.ts';
import type { Body, ListQuery, Note, Scope, Spec, Stored } from './stored.ts';
import type { ResourceAccess, ResourceDefinition, Target } from './define-resource.ts';
import { changedUnique, indexOps } from './index-ops.ts';
import { mergeUpdate, readFields } from '../fields/merge-update.ts';
import { ownerOf, withOwnerId } from './owners.ts';
import { withoutAliases } from '../fields/parse-body.ts';
import { checkReferences, seeReference } from './references.ts';
import type { Holds, ReferenceDeps } from './references.ts';
import { refuseInUse } from './refuse-in-use.ts';
import { renameReferrers } from './rename-referrers.ts';
import { ResourceRows, untilWon } from './resource-rows.ts';
import type { Row } from './resource-rows.ts';
import { sameJson } from '../fields/same-json.ts';
import { SealedSecrets } from '../fields/sealed-secrets.ts';
import type { Lookup } from './settlement.ts';
import { resourceKey } from './storage-keys.ts';

export interface RepositoryDeps {
  store: Store;
  clock: Clock;
  ids: IdSource;
  sealer: Sealer;
  definitions: readonly ResourceDefinition[];
}

/** A resource that was made or acted on. */
export interface Created {
  stored: Stored;
  /** Members of only this answer. */
  reveal: Record<string, unknown>;
}

/** Owner of a new resource. */
export interface CreateScope extends Scope {
  /** Further operations of the commit that makes it. */
  also?(created: Created): Promise<readonly Op[]>;
}

/** New state of a resource, and what else is written with it. */
interface Change {
  next: Stored;
  ops?: Op[];
}

/** A resource as it was when its change began. */
interface Rewriting {
  readonly row: Row;
  readonly epoch: Version | undefined;
  readonly holds: Holds;
  readonly action: string;
}

/**
 * Resources of every kind on the store: names unique, references checked, updates serialised by
 * version, secrets sealed. Every change is one commit together with its indexes.
 */
export class Repository implements ResourceAccess {
  readonly definitions: readonly ResourceDefinition[];
  readonly store: Store;
  /** Reports every requested change. */
  readonly audit: AuditLog;
  readonly referrers: Referrers;
  private readonly rows: ResourceRows;
  private readonly secrets: SealedSecrets;
  private readonly deps: RepositoryDeps;

  constructor(deps: RepositoryDeps) {
    this.deps = deps;
    this.store = deps.store;
    this.definitions = deps.definitions;
    this.audit = new AuditLog(deps);
    this.rows = new ResourceRows(deps.store, this.audit);
    this.secrets = new SealedSecrets(deps.sealer);
    this.referrers = new Referrers(this);
  }

  /**
   * Writes rows that are no resource, reported and audited as one; returns the key where another writer came
   * first.
   */
  write(ops: readonly Op[], note: AuditNote): Promise<Key | undefined> {
    return this.rows.commit(ops, { note });
  }

  definitionOf(kind: string): ResourceDefinition {
    const found = this.definitions.find((definition) => definition.kind === kind);
    if (!found) throw new Error(`no resource kind ${kind}`);
    return found;
  }

  /**
   * @throws GatewayError `invalid_request`, `unprocessable`, `not_found` for an unknown reference,
   *   `conflict` for a name that is taken or an archived reference
   */
  async create(definition: ResourceDefinition, body: Body, scope: CreateScope): Promise<Created> {
    const sent = withoutAliases(definition, body);
    const { spec, secrets } = readFields(definition, sent, { now: this.now() });
    const fresh = await this.fresh(definition, spec, scope);
    const given = secrets as Record<string, string>;
    const made = definition.create?.({ id: fresh.id, spec, secrets: given });
    if (made) fresh.state = { ...made.state };
    else this.secrets.put(definition, fresh, secrets);
    Object.assign(fresh.state, definition.transition?.(fresh, body, fresh.createdAt));
    return untilWon(async () => {
      const holds: Holds = new Map();
      const change = { definition, next: fresh, body: sent, holds };
      const { next: stored, ops } = await this.settle(change, undefined);
      const created = { stored, reveal: made?.reveal ?? {} };
      const all: Op[] = [
        { type: 'put', key: resourceKey(stored.kind, stored.id), value: stored, ifAbsent: true },
        ...indexOps(definition, { next: stored }),
        ...(made?.ops ?? []),
        ...(ops ?? []),
        ...(await checkReferences({ definition, stored }, this.referenceDeps(stored, holds))),
        ...((await scope.also?.(created)) ?? []),
      ];
      const note = toAuditNote(definition, { next: stored, action: 'create', by: scope.by });
      const conflict = await this.rows.commit(all, { note });
      if (!conflict) return created;
      await this.rows.refuseTaken(definition, stored, conflict);
      return undefined;
    });
  }

  /** Finds by id, else by name; undefined also for another organization's. */
  async find(
    definition: ResourceDefinition,
    idOrName: string,
    scope: Scope,
  ): Promise<Stored | undefined> {
    return (await this.rows.load(definition, idOrName, scope))?.stored;
  }

  /** @throws GatewayError `not_found` */
  async get(definition: ResourceDefinition, id: string, scope: Scope): Promise<Stored> {
    return (await this.rows.mustLoad({ definition, idOrName: id, ...scope })).stored;
  }

  /** Lists in the order of ids, which is that of creation, or the reverse as the kind has it. */
  list(definition: ResourceDefinition, query: ListQuery): Promise<Stored[]> {
    return this.rows.list(definition, query);
  }

  /** Undefined for an object that does not exist. */
  byIds(
    definition: ResourceDefinition,
    ids: readonly string[],
  ): Promise<Map<string, Stored | undefined>> {
    return this.rows.byIds(definition, ids);
  }

  /** A versioned resource as it was; members other than its fields are as they are now. */
  async version(stored: Stored, version: number): Promise<Stored | undefined> {
    if (version === stored.version) return stored;
    const then = await this.rows.version(stored, version);
    return then && { ...then, state: stored.state };
  }

  /** Newest first. */
  async versions(
    stored: Stored,
    page: { before?: number | undefined; limit: number },
  ): Promise<Stored[]> {
    const found = await this.rows.versions(stored, page);
    return found.map((then) =>
      then.version === stored.version ? stored : { ...then, state: stored.state },
    );
  }

  /** Changes the members that the body has; one that changes nothing keeps the version. */
  update(target: Target, body: Body): Promise<Stored> {
    return this.rewrite(target, 'update', (stored, holds) =>
      this.merge(target.definition, stored, { body, holds }),
    );
  }

  async act(target: Target, action: string, body: Body = {}): Promise<Created> {
    const { definition } = target;
    let reveal: Created['reveal'] = {};
    const stored = await this.rewrite(target, action, async (before) => {
      const outcome = definition.actions?.[action]?.({ stored: before, now: this.now(), body });
      reveal = outcome?.reveal ?? {};
      if (!outcome) return undefined;
      const state = { ...before.state, ...outcome.state };
      const next: Stored = { ...before, state, sealed: { ...before.sealed } };
      this.secrets.put(definition, next, outcome.secrets ?? {});
      return { next, ops: outcome.ops ?? [] };
    });
    return { stored, reveal };
  }

  /** Keeps what the gateway itself learns: no new version, no news for those who watch. */
  note(target: Target, change: (stored: Stored) => Promise<Note | undefined>): Promise<Stored> {
    return untilWon(async () => {
      const { stored, version } = await this.rows.mustLoad(target);
      const note = await change(stored);
      if (!note) return stored;
      const { action, state, spec, ops = [] } = note;
      const next: Stored = {
        ...stored,
        spec: { ...stored.spec, ...spec },
        state: { ...stored.state, ...state },
      };
      const key = resourceKey(stored.kind, stored.id);
      const put: Op = { type: 'put', key, value: next, ifVersion: version };
      const { definition, by } = target;
      const { ok } = await (action === undefined
        ? this.store.commit([put, ...ops])
        : this.audit.commit(
            [put, ...ops],
            toAuditNote(definition, { before: stored, next, action, by }),
          ));
      return ok ? next : undefined;
    });
  }

  /** @throws GatewayError `not_found`, or `conflict` while another resource refers to it */
  async remove(target: Target): Promise<Stored> {
    const { definition } = target;
    return untilWon(async () => {
      const epoch = await this.rows.epoch();
      const { stored, version } = await this.rows.mustLoad(target);
      const named = isNamed(definition) ? [stored.spec.name, stored.id] : [stored.id];
      await refuseInUse(this, stored, named);
      const lookup = this.lookup(stored, new Map());
      const ops: Op[] = [
        { type: 'delete', key: resourceKey(stored.kind, stored.id), ifVersion: version },
        ...indexOps(definition, { before: stored }),
        ...((await definition.dispose?.(stored, lookup)) ?? []),
      ];
      // Nothing may come to refer to it between the look and the commit: the epoch does not change.
      const { by } = target;
      const note = toAuditNote(definition, { before: stored, action: 'delete', by });
      return (await this.rows.commit(ops, { note, heldEpoch: epoch })) ? undefined : stored;
    });
  }

  /** Resources of an organization, as its own resources see them. */
  lookupIn(organization: string): Lookup {
    return this.lookup({ organization }, new Map());
  }

  /** The plain value of a sealed secret. */
  reveal(stored: Stored, field: string): string | undefined {
    return this.secrets.reveal(stored, field);
  }

  private now(): string {
    return new Date(this.deps.clock.now()).toISOString();
  }

  private async fresh(definition: ResourceDefinition, spec: Spec, scope: Scope): Promise<Stored> {
    const organization = await ownerOf(this.rows, { definition, spec }, scope);
    if (organization !== null) spec['organization'] = organization;
    const at = this.now();
    return {
      id: this.deps.ids.next(definition.idPrefix),
      kind: definition.kind,
      organization,
      spec,
      sealed: {},
      state: {},
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
  }

  /** Writes what `change` makes of the resource; undefined leaves it as it is. */
  private async rewrite(
    target: Target,
    action: string,
    change: (stored: Stored, holds: Holds) => Promise<Change | undefined>,
  ): Promise<Stored> {
    return untilWon(async () => {
      const epoch = await this.rows.epoch();
      const row = await this.rows.mustLoad(target);
      const holds: Holds = new Map();
      const changed = await change(row.stored, holds);
      if (!changed) return row.stored;
      return this.replace(target, { row, epoch, holds, action }, changed);
    });
  }

  private async replace(
    { definition, also, by }: Target,
    { row, epoch, holds, action }: Rewriting,
    changed: Change,
  ): Promise<Stored | undefined> {
    const { stored: before } = row;
    const isNew = !definition.versioned || !sameFields(before, changed.next);
    const version = before.version + (isNew ? 1 : 0);
    const next = { ...changed.next, version, updatedAt: this.now() };
    const deps = this.referenceDeps(next, holds);
    const ops: Op[] = [
      { type: 'put', key: resourceKey(next.kind, next.id), value: next, ifVersion: row.version },
      ...indexOps(definition, { before, next }),
      ...(changed.ops ?? []),
      ...(await checkReferences({ definition, stored: next, before }, deps)),
    ];
    ops.push(...((await also?.(next, ops)) ?? []));
    const moved = changedUnique(definition, before, next);
    const isRenamed = moved.includes('name');
    const renamed = isRenamed
      ? await renameReferrers(this, this.rows, { before, next, by })
      : undefined;
    // Nothing may come to refer to the former name meanwhile, as with a removal.
    const heldEpoch = isRenamed ? epoch : undefined;
    const note = toAuditNote(definition, { before, next, action, by });
    const all = [...ops, ...(renamed?.ops ?? [])];
    const conflict = await this.rows.commit(all, { note, further: renamed?.notes, heldEpoch });
    if (!conflict) return next;
    await this.rows.refuseTaken(definition, next, conflict);
    return undefined;
  }

  private async merge(
    definition: ResourceDefinition,
    stored: Stored,
    { body, holds }: { body: Body; holds: Holds },
  ): Promise<Change | undefined> {
    const patch = await withOwnerId(this.rows, definition, withoutAliases(definition, body));
    if (isArchived(stored)) throw archived(stored);
    const { spec, secrets } = mergeUpdate(definition, patch, this.secrets.look(stored, this.now()));
    const state = { ...stored.state, ...definition.transition?.(stored, patch, this.now()) };
    const draft: Stored = { ...stored, spec, state, sealed: { ...stored.sealed } };
    this.secrets.put(definition, draft, secrets);
    const settled = await this.settle({ definition, next: draft, body: patch, holds }, stored);
    const { next } = settled;
    return sameJson(next, stored) ? undefined : settled;
  }

  private async settle(
    {
      definition,
      next,
      body,
      holds,
    }: { definition: ResourceDefinition; next: Stored; body: Body; holds: Holds },
    before: Stored | undefined,
  ): Promise<Change> {
    if (!definition.settle) return { next };
    const { id, organization, spec } = next;
    const draft = { id, organization, spec: { ...spec }, before, body };
    const settled = await definition.settle(draft, this.lookup(next, holds));
    const state = { ...next.state, ...settled.state };
    return { next: { ...next, spec: settled.spec, state }, ops: settled.ops ?? [] };
  }

  private lookup(stored: Pick<Stored, 'organization'>, holds: Holds): Lookup {
    const deps = this.referenceDeps(stored, holds);
    return {
      store: this.store,
      ids: this.deps.ids,
      now: this.now(),
      find: async (reference) => (await seeReference(reference, deps)).stored,
    };
  }

  private referenceDeps(
    { organization }: Pick<Stored, 'organization'>,
    holds: Holds,
  ): ReferenceDeps {
    return {
      holds,
      definitionOf: (kind) => this.definitionOf(kind),
      load: (target, idOrName) => this.rows.load(target, idOrName, { organization }),
    };
  }
}

function isNamed({ unique = ['name'] }: ResourceDefinition): boolean {
  return unique.includes('name');
}

/** Labels are the operator's and do not change the resource's behaviour. */
function sameFields({ spec: { labels: _a, ...a } }: Stored, { spec }: Stored): boolean {
  const { labels: _b, ...b } = spec;
  return sameJson(a, b);
}

function archived({ kind, id }: Stored): GatewayError {
  const message = `${kind} ${id} is archived`;
  return new GatewayError('conflict', { message, type: `${kind}_archived`, retry: false });
}
