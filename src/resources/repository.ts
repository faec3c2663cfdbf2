import type { Clock } from '../core/clock.ts';
import { GatewayError } from '../core/errors.ts';
import type { IdSource } from '../core/ids.ts';
import { SealError } from '../core/seal.ts';
import type { Sealer } from '../core/seal.ts';
import type { Op, Store, Version } from '../store/store.ts';
import type { ResourceDefinition, Spec, Stored } from './define-resource.ts';
import { parseSpec, withoutAliases } from './parse-body.ts';
import type { Body } from './parse-body.ts';
import { checkReferences, findUsers } from './references.ts';
import { ResourceRows, untilWon } from './resource-rows.ts';
import type { ListQuery, Row, Scope, Target } from './resource-rows.ts';
import { sameJson } from './same-json.ts';
import { nameKey, resourceKey } from './storage-keys.ts';

export interface RepositoryDeps {
  store: Store;
  clock: Clock;
  ids: IdSource;
  sealer: Sealer;
  definitions: readonly ResourceDefinition[];
}

export interface Created {
  stored: Stored;
  /** Members of the create answer alone. */
  reveal: Record<string, unknown>;
}

/** Users of a resource that a message names. */
const MAX_NAMED = 10;
const EVERYWHERE: Scope = { organization: null };

/**
 * Resources of every kind on the store: names unique, references checked, updates serialised by
 * version, secrets sealed. Every change is one commit together with its indexes.
 */
export class Repository {
  readonly definitions: readonly ResourceDefinition[];
  private readonly rows: ResourceRows;
  private readonly deps: RepositoryDeps;

  constructor(deps: RepositoryDeps) {
    this.deps = deps;
    this.definitions = deps.definitions;
    this.rows = new ResourceRows(deps.store, deps.ids);
  }

  definitionOf(kind: string): ResourceDefinition {
    const found = this.definitions.find((definition) => definition.kind === kind);
    if (!found) throw new Error(`no resource kind ${kind}`);
    return found;
  }

  /**
   * @throws GatewayError `invalid_request`, `unprocessable`, `not_found` for an unknown reference,
   *   `conflict` for a name that is taken
   */
  async create(definition: ResourceDefinition, body: Body, scope: Scope): Promise<Created> {
    const parsed = parseSpec(definition, withoutAliases(definition, body));
    const { spec, secrets } = split(definition, parsed);
    definition.check?.(spec, secrets);
    const stored = await this.fresh(definition, spec, scope);
    const made = definition.create?.({
      id: stored.id,
      spec,
      secrets: secrets as Record<string, string>,
    });
    if (made) stored.state = { ...made.state };
    else this.seal(stored, secrets);
    Object.assign(stored.state, definition.transition?.(stored, body, stored.createdAt));
    const { id, kind, organization } = stored;
    return untilWon(async () => {
      const conflict = await this.rows.commit([
        { type: 'put', key: resourceKey(kind, id), value: stored, ifAbsent: true },
        { type: 'put', key: nameKey(kind, organization, spec.name), value: id, ifAbsent: true },
        ...(made?.ops ?? []),
        ...(await this.checkReferences(definition, stored)),
      ]);
      if (!conflict) return { stored, reveal: made?.reveal ?? {} };
      await this.rows.refuseTaken(stored, conflict);
      return undefined;
    });
  }

  /** By id, else by name; undefined also for another organization's. */
  async find(
    definition: ResourceDefinition,
    idOrName: string,
    scope: Scope,
  ): Promise<Stored | undefined> {
    return (await this.rows.load(definition, idOrName, scope))?.stored;
  }

  /** In the order of ids, which is that of creation. */
  list(definition: ResourceDefinition, query: ListQuery): Promise<Stored[]> {
    return this.rows.list(definition, query);
  }

  /** Changes the members that the body has; one that changes nothing leaves the version alone. */
  update(target: Target, body: Body): Promise<Stored> {
    return this.rewrite(target, (stored) => this.merge(target.definition, stored, body));
  }

  act(target: Target, action: string): Promise<Stored> {
    return this.rewrite(target, async (stored) => {
      const state = target.definition.actions?.[action]?.(stored, this.now());
      return state && { ...stored, state: { ...stored.state, ...state } };
    });
  }

  /** @throws GatewayError `not_found`, or `conflict` while another resource refers to it */
  async remove(target: Target): Promise<Stored> {
    return untilWon(async () => {
      const epoch = await this.rows.epoch();
      const { stored, version } = await this.rows.mustLoad(target);
      await this.refuseInUse(stored, { named: [stored.spec.name, stored.id], what: 'deleted' });
      const ops: Op[] = [
        { type: 'delete', key: resourceKey(stored.kind, stored.id), ifVersion: version },
        { type: 'delete', key: nameKey(stored.kind, stored.organization, stored.spec.name) },
      ];
      // Nothing may come to refer to it between the look and the commit: the epoch stands still.
      return (await this.rows.commit(ops, epoch)) ? undefined : stored;
    });
  }

  /** The plain value of a sealed secret. */
  reveal(stored: Stored, field: string): string | undefined {
    const sealed = stored.sealed[field];
    return sealed === undefined ? undefined : this.deps.sealer.open(sealed, place(stored, field));
  }

  private now(): string {
    return new Date(this.deps.clock.now()).toISOString();
  }

  private async fresh(definition: ResourceDefinition, spec: Spec, scope: Scope): Promise<Stored> {
    const organization = await this.ownerOf(definition, spec, scope);
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

  private async ownerOf(
    definition: ResourceDefinition,
    spec: Spec,
    scope: Scope,
  ): Promise<string | null> {
    if (!definition.organizationScoped) return null;
    const wanted = (spec['organization'] as string | undefined) ?? scope.organization;
    if (!wanted) {
      throw new GatewayError('invalid_request', {
        message: 'organization: name the owner',
        param: 'organization',
      });
    }
    const owner = await this.find(this.definitionOf('organization'), wanted, EVERYWHERE);
    if (owner && (scope.organization === null || scope.organization === owner.id)) return owner.id;
    const message = `organization: no organization \`${wanted}\``;
    throw new GatewayError('not_found', { message, param: 'organization' });
  }

  /** An owner that is named by its name is the same owner. */
  private async withOwnerId(definition: ResourceDefinition, body: Body): Promise<Body> {
    const { organization: named } = body;
    if (!definition.organizationScoped || typeof named !== 'string') return body;
    const owner = await this.find(this.definitionOf('organization'), named, EVERYWHERE);
    return owner ? { ...body, organization: owner.id } : body;
  }

  /** Writes what `change` makes of the resource; undefined leaves it as it is. */
  private async rewrite(
    target: Target,
    change: (stored: Stored) => Promise<Stored | undefined>,
  ): Promise<Stored> {
    return untilWon(async () => {
      const epoch = await this.rows.epoch();
      const row = await this.rows.mustLoad(target);
      const changed = await change(row.stored);
      return changed ? this.replace(target.definition, { row, epoch }, changed) : row.stored;
    });
  }

  private async replace(
    definition: ResourceDefinition,
    { row, epoch }: { row: Row; epoch: Version | undefined },
    changed: Stored,
  ): Promise<Stored | undefined> {
    const next = { ...changed, version: row.stored.version + 1, updatedAt: this.now() };
    const isRenamed = next.spec.name !== row.stored.spec.name;
    const ops: Op[] = [
      { type: 'put', key: resourceKey(next.kind, next.id), value: next, ifVersion: row.version },
      ...(isRenamed ? renaming(row.stored, next) : []),
      ...(await this.checkReferences(definition, next)),
    ];
    // As with a removal, nothing may come to refer to the former name meanwhile.
    const conflict = await this.rows.commit(ops, isRenamed ? epoch : undefined);
    if (!conflict) return next;
    if (isRenamed) await this.rows.refuseTaken(next, conflict);
    return undefined;
  }

  private async merge(
    definition: ResourceDefinition,
    stored: Stored,
    body: Body,
  ): Promise<Stored | undefined> {
    const patch = await this.withOwnerId(definition, withoutAliases(definition, body));
    refuseImmutable(definition, stored, patch);
    const { spec, secrets } = split(
      definition,
      parseSpec(definition, { ...stored.spec, ...patch }),
    );
    definition.check?.(spec, secrets);
    if (stored.organization !== null) spec['organization'] = stored.organization;
    const state = { ...stored.state, ...definition.transition?.(stored, patch, this.now()) };
    const next: Stored = { ...stored, spec, state, sealed: { ...stored.sealed } };
    this.seal(next, secrets);
    if (sameJson(next, stored)) return undefined;
    if (spec.name !== stored.spec.name)
      await this.refuseInUse(stored, { named: [stored.spec.name], what: 'renamed' });
    return next;
  }

  /** An unchanged secret keeps its sealed form, so that writing it again changes nothing. */
  private seal(stored: Stored, secrets: Readonly<Record<string, unknown>>): void {
    for (const [field, value] of Object.entries(secrets)) {
      if (value === null) delete stored.sealed[field];
      else if (typeof value === 'string' && !this.isSealed(stored, field, value)) {
        stored.sealed[field] = this.deps.sealer.seal(value, place(stored, field));
      }
    }
  }

  /** False for one that no master key opens any more, so that it can be replaced. */
  private isSealed(stored: Stored, field: string, value: string): boolean {
    try {
      return this.reveal(stored, field) === value;
    } catch (error) {
      if (error instanceof SealError) return false;
      throw error;
    }
  }

  private checkReferences(definition: ResourceDefinition, stored: Stored): Promise<Op[]> {
    return checkReferences(
      { definition, stored },
      {
        definitionOf: (kind) => this.definitionOf(kind),
        load: (target, idOrName) => this.rows.load(target, idOrName, EVERYWHERE),
      },
    );
  }

  private async refuseInUse(
    { kind, spec }: Stored,
    { named, what }: { named: readonly string[]; what: string },
  ): Promise<void> {
    const users = await findUsers(kind, named, {
      definitions: this.definitions,
      list: (kind) =>
        this.list(this.definitionOf(kind), { ...EVERYWHERE, limit: Infinity, matches: () => true }),
    });
    if (users.length === 0) return;
    const shown = users.slice(0, MAX_NAMED).map((user) => `${user.kind} ${user.spec.name}`);
    if (users.length > MAX_NAMED) shown.push(`${users.length - MAX_NAMED} more`);
    const message = `${kind} \`${spec.name}\` cannot be ${what}: it is used by ${shown.join(', ')}`;
    throw new GatewayError('conflict', { message, type: 'in_use', retry: false });
  }
}

function split(
  definition: ResourceDefinition,
  parsed: Spec,
): { spec: Spec; secrets: Record<string, unknown> } {
  const spec = { ...parsed };
  const secrets: Record<string, unknown> = {};
  for (const field of definition.secrets) {
    if (spec[field] !== undefined) secrets[field] = spec[field];
    delete spec[field];
  }
  return { spec, secrets };
}

function refuseImmutable(definition: ResourceDefinition, stored: Stored, patch: Body): void {
  for (const field of definition.immutable) {
    if (!(field in patch) || sameJson(patch[field], stored.spec[field])) continue;
    throw new GatewayError('invalid_request', {
      message: `${field} cannot be changed`,
      param: field,
    });
  }
}

function renaming(before: Stored, next: Stored): Op[] {
  return [
    { type: 'delete', key: nameKey(before.kind, before.organization, before.spec.name) },
    {
      type: 'put',
      key: nameKey(next.kind, next.organization, next.spec.name),
      value: next.id,
      ifAbsent: true,
    },
  ];
}

function place({ kind, id }: Stored, field: string): string {
  return `${kind}/${id}/${field}`;
}
