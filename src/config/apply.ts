import { type ActualState, findActual, type View } from './actual.ts';
import { changesOf, known } from './changes.ts';
import { type DesiredObject, type DesiredState, fallbacksOf, ownedIdentity } from './desired.ts';
import { CONFIG_KINDS, kindOf, type KindName } from './kinds.ts';
import { labelsOf, type Owner } from './ownership.ts';
import { ownedLabels, type Plan, type PlanAction } from './plan.ts';
import { isRecord } from './record.ts';
import { ObjectRef, SecretRef } from './references.ts';

/** How an apply reaches the objects: the admin API, or the repository in process. */
export interface ResourceClient {
  /** Every object of the kind, all pages. */
  list(kind: KindName): Promise<View[]>;
  create(kind: KindName, body: Record<string, unknown>): Promise<View>;
  update(
    kind: KindName,
    id: string,
    change: { body: Record<string, unknown>; expectedVersion: number },
  ): Promise<View>;
  delete(kind: KindName, id: string): Promise<void>;
  archive(kind: KindName, id: string): Promise<View>;
}

interface ApplyOutcome {
  readonly kind: KindName;
  readonly identity: string;
  readonly action: PlanAction['action'];
  readonly id: string | null;
  /** What failed, or which object it waited for. */
  readonly reason?: string;
}

export interface ApplyReport {
  readonly applied: readonly ApplyOutcome[];
  readonly failed: readonly ApplyOutcome[];
  /** Not tried because something it refers to failed. */
  readonly blocked: readonly ApplyOutcome[];
  /** Not tried because a stop was asked for, or, for removals, because something failed. */
  readonly notRun: readonly ApplyOutcome[];
  /** Values of keys that the server made up; they cannot be had again. */
  readonly issued: readonly { readonly identity: string; readonly value: string }[];
}

export interface ApplyOptions {
  plan: Plan;
  desired: DesiredState;
  owner: Owner;
  client: ResourceClient;
  /** Resolved before the first write, by their written form (see `resolveAllSecrets`). */
  secrets: ReadonlyMap<SecretRef, string>;
  signal?: AbortSignal;
}

/** Objects that are no longer what the plan was made for; nothing was written. */
export class StalePlanError extends Error {
  override readonly name = 'StalePlanError';
  readonly objects: readonly { kind: KindName; identity: string; reason: string }[];

  constructor(objects: StalePlanError['objects']) {
    super(
      `the plan is stale: ${objects.map(({ kind, identity }) => `${kind} ${identity}`).join(', ')}`,
    );
    this.objects = objects;
  }
}

/**
 * Reads the objects that a desired state may touch or refer to: the platform's own, and of what
 * organizations keep only the kinds that it is about.
 */
export async function readActual(
  client: ResourceClient,
  { managed, objects }: Pick<DesiredState, 'managed' | 'objects'>,
): Promise<ActualState> {
  const named = new Set(objects.flatMap(({ body }) => objectRefs(body).map((ref) => ref.kind)));
  const entries: [KindName, View[]][] = [];
  for (const { kind, definition } of CONFIG_KINDS) {
    const isAbout = managed.has(kind) || named.has(kind) || definition.api === undefined;
    entries.push([kind, isAbout ? await client.list(kind) : []]);
  }
  return Object.fromEntries(entries) as Record<KindName, View[]>;
}

/**
 * Executes a plan in reference order, removals last and only when nothing else failed. What depends
 * on a failed object is blocked, the rest goes on. Throws {@link StalePlanError} before the first
 * write when an object changed since the plan was made. An unclear answer to a creation is settled
 * by looking for the object before it counts as failed.
 */
export async function apply(options: ApplyOptions): Promise<ApplyReport> {
  const { plan, client, desired } = options;
  const actual = await readActual(client, desired);
  refuseStale(plan, actual);
  const run = new ApplyRun(options, actual);
  for (const action of plan.actions) await run.execute(action);
  return run.report;
}

function refuseStale(plan: Plan, actual: ActualState): void {
  const stale = plan.actions.flatMap(({ kind, identity, action, id, version }) => {
    const found = findActual(kind, identity, actual);
    const view = found.find((one) => one.id === id);
    if (action === 'create') {
      return found.length === 0 ? [] : [{ kind, identity, reason: 'exists by now' }];
    }
    if (view === undefined) return [{ kind, identity, reason: 'does not exist any more' }];
    if (action === 'none' || view.version === version) return [];
    return [{ kind, identity, reason: `version ${view.version} instead of ${version}` }];
  });
  if (stale.length > 0) throw new StalePlanError(stale);
}

class ApplyRun {
  readonly report = {
    applied: [] as ApplyOutcome[],
    failed: [] as ApplyOutcome[],
    blocked: [] as ApplyOutcome[],
    notRun: [] as ApplyOutcome[],
    issued: [] as { identity: string; value: string }[],
  };
  readonly #options: ApplyOptions;
  readonly #declared: ReadonlyMap<string, DesiredObject>;
  /** Grows with every write, so that references to new objects resolve. */
  readonly #actual: Record<KindName, View[]>;
  /** Objects that are not as declared: failed or blocked. */
  readonly #unready = new Set<string>();

  constructor(options: ApplyOptions, actual: ActualState) {
    this.#options = options;
    this.#declared = new Map(
      options.desired.objects.map((object) => [keyOf(object.kind, object.identity), object]),
    );
    this.#actual = Object.fromEntries(
      CONFIG_KINDS.map(({ kind }) => [kind, [...actual[kind]]]),
    ) as Record<KindName, View[]>;
  }

  async execute(planned: PlanAction): Promise<void> {
    const { kind, identity, action, id } = planned;
    if (action === 'none') return;
    const outcome: ApplyOutcome = { kind, identity, action, id };
    const object = this.#declared.get(keyOf(kind, identity));
    const isRemoval = action !== 'create' && action !== 'update';
    const unsettled = this.report.failed.length + this.report.blocked.length > 0;
    if (this.#options.signal?.aborted === true || (isRemoval && unsettled)) {
      this.report.notRun.push(outcome);
      return;
    }
    const missing = object && dependenciesOf(object).find((name) => this.#unready.has(name));
    if (missing !== undefined) {
      this.#unready.add(keyOf(kind, identity));
      this.report.blocked.push({ ...outcome, reason: `waits for ${missing}` });
      return;
    }
    try {
      const view = await this.#write(planned, object);
      this.report.applied.push({ ...outcome, id: view?.id ?? id });
    } catch (error) {
      this.#unready.add(keyOf(kind, identity));
      this.report.failed.push({ ...outcome, reason: messageOf(error) });
    }
  }

  async #write(planned: PlanAction, object: DesiredObject | undefined): Promise<View | undefined> {
    const { kind, action, id, version } = planned;
    const { client } = this.#options;
    const target = { id: id ?? '', expectedVersion: version ?? 0 };
    if (action === 'delete') {
      await client.delete(kind, target.id);
      return undefined;
    }
    if (action === 'archive') return client.archive(kind, target.id);
    if (action === 'disable' || action === 'revoke') {
      return client.update(kind, target.id, { ...target, body: { ...kindOf(kind).off } });
    }
    if (object === undefined) throw new Error('the plan names an object that is not declared');
    const view =
      action === 'create'
        ? await this.#create(object)
        : await client.update(kind, target.id, { ...target, body: this.#patch(planned, object) });
    this.#remember(kind, view);
    const { value } = view;
    if (action === 'create' && typeof value === 'string' && object.body['value'] === undefined) {
      this.report.issued.push({ identity: object.identity, value });
    }
    this.#refuseDropped(object, view);
    return view;
  }

  /** An answer that never came may still have taken effect: the object itself is asked. */
  async #create(object: DesiredObject): Promise<View> {
    const { client, owner } = this.#options;
    const labels = ownedLabels(object, owner);
    const body = { ...this.#resolvedFields(Object.entries(object.body), object), labels };
    try {
      return await client.create(object.kind, body);
    } catch (error) {
      if (isRefusal(error)) throw error;
      const actual = { ...this.#actual, [object.kind]: await client.list(object.kind) };
      const [found] = findActual(object.kind, object.identity, actual);
      if (found === undefined || labelsOf(found)[owner.label] !== owner.value) throw error;
      return found;
    }
  }

  #patch(planned: PlanAction, object: DesiredObject): Record<string, unknown> {
    const { owner } = this.#options;
    const fields = new Set(planned.changes.map(({ field }) => field));
    const view = this.#actual[planned.kind].find(({ id }) => id === planned.id);
    const changed = Object.entries(object.body).filter(([field]) => fields.has(field));
    const labels = { ...(view && labelsOf(view)), ...ownedLabels(object, owner) };
    const unowned = planned.ownership === 'none';
    const patch = {
      ...asPatch(object.kind, this.#resolvedFields(changed, object), view),
      ...guardsOf(object.kind, fields, view),
    };
    if (unowned && !fields.has('labels')) return patch;
    const declaredLabels = { ...(view && labelsOf(view)), ...object.labels };
    return { ...patch, labels: unowned ? declaredLabels : labels };
  }

  #resolvedFields(
    entries: readonly (readonly [string, unknown])[],
    object: DesiredObject,
  ): Record<string, unknown> {
    return Object.fromEntries(
      entries.map(([field, value]) => [field, this.#resolved(value, object)]),
    );
  }

  #resolved(value: unknown, object: DesiredObject): unknown {
    if (value instanceof SecretRef) {
      const secret = this.#options.secrets.get(value);
      if (secret === undefined) throw new Error(`${value.toString()} was not resolved`);
      return secret;
    }
    if (value instanceof ObjectRef) {
      const found = known(value, this.#actual, object);
      if (found === value.toString()) throw new Error(`${value.toString()} does not exist`);
      return found;
    }
    if (Array.isArray(value)) return value.map((member) => this.#resolved(member, object));
    return isRecord(value) ? this.#resolvedFields(Object.entries(value), object) : value;
  }

  #remember(kind: KindName, view: View): void {
    const views = this.#actual[kind];
    const index = views.findIndex(({ id }) => id === view.id);
    if (index < 0) views.push(view);
    else views[index] = view;
  }

  /** A server that does not know a field drops it silently; that is no success. */
  #refuseDropped(object: DesiredObject, view: View): void {
    const differing = changesOf({ object, view, actual: this.#actual, secrets: new Set() });
    if (differing.length === 0) return;
    throw new Error(`the server did not keep ${differing.map(({ path }) => path).join(', ')}`);
  }
}

function keyOf(kind: KindName, identity: string): string {
  return `${kind} ${identity}`;
}

/** What must be as declared before the object itself can be written. */
function dependenciesOf({ kind, body }: DesiredObject): string[] {
  const { organization } = body;
  const references = objectRefs(body).map((ref) => {
    const target = CONFIG_KINDS.find((one) => one.kind === ref.kind);
    const identity = target?.isOwned ? ownedIdentity(organization, ref.name) : ref.name;
    return keyOf(ref.kind as KindName, identity);
  });
  if (kindOf(kind).isOwned && typeof organization === 'string') {
    return [...references, keyOf('organization', organization)];
  }
  if (kind !== 'model') return references;
  const routes = Array.isArray(body['routes']) ? body['routes'].filter(isRecord) : [];
  const providers = routes.map((route) => keyOf('provider', String(route['provider'])));
  const fallbacks = fallbacksOf(body).map((name) => keyOf('model', name));
  return [...references, ...providers, ...fallbacks];
}

/** Of a map that is patched member by member, what is no longer declared is removed by null. */
function asPatch(
  kind: KindName,
  fields: Readonly<Record<string, unknown>>,
  view: View | undefined,
): Record<string, unknown> {
  const { patched = [] } = kindOf(kind).definition;
  const entries = Object.entries(fields).map(([field, value]) => {
    const current = view?.[field];
    if (!patched.includes(field) || !isRecord(value) || !isRecord(current)) return [field, value];
    const gone = Object.keys(current).map((key) => [key, null] as const);
    return [field, { ...Object.fromEntries(gone), ...value }];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** What some changes must say of the present state (requirement cli.apply.rebind). */
function guardsOf(
  kind: KindName,
  fields: ReadonlySet<string>,
  view: View | undefined,
): Record<string, unknown> {
  const guards = Object.entries(kindOf(kind).guards).filter(([field]) => fields.has(field));
  return Object.fromEntries(guards.map(([field, guard]) => [guard, view?.[field]]));
}

function objectRefs(value: unknown): ObjectRef[] {
  if (value instanceof ObjectRef) return [value];
  if (Array.isArray(value)) return value.flatMap((member) => objectRefs(member));
  return isRecord(value) ? Object.values(value).flatMap((member) => objectRefs(member)) : [];
}

/** A clear no: the object was certainly not made. */
function isRefusal(error: unknown): boolean {
  const { status } = error as { status?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason';
}
