import { type ActualState, findActual, type View } from './actual.ts';
import { changesOf, known } from './changes.ts';
import {
  DEFAULT_ORGANIZATION,
  type DesiredObject,
  type DesiredState,
  fallbacksOf,
} from './desired.ts';
import { CONFIG_KINDS, type KindName } from './kinds.ts';
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

/** Reads every kind of object. */
export async function readActual(client: ResourceClient): Promise<ActualState> {
  const entries: [KindName, View[]][] = [];
  for (const { kind } of CONFIG_KINDS) entries.push([kind, await client.list(kind)]);
  return Object.fromEntries(entries) as Record<KindName, View[]>;
}

/**
 * Executes a plan in reference order, removals last and only when nothing else failed. What depends
 * on a failed object is blocked, the rest goes on. Throws {@link StalePlanError} before the first
 * write when an object changed since the plan was made. An unclear answer to a creation is settled
 * by looking for the object before it counts as failed.
 */
export async function apply(options: ApplyOptions): Promise<ApplyReport> {
  const { plan, client } = options;
  const actual = await readActual(client);
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
    if (action === 'disable' || action === 'revoke') {
      return client.update(kind, target.id, { ...target, body: { enabled: false } });
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
    const body = { ...(this.#resolved(object.body) as Record<string, unknown>), labels };
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
    if (unowned && !fields.has('labels')) return this.#resolvedFields(changed);
    const declaredLabels = { ...(view && labelsOf(view)), ...object.labels };
    return { ...this.#resolvedFields(changed), labels: unowned ? declaredLabels : labels };
  }

  #resolvedFields(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
    return Object.fromEntries(entries.map(([field, value]) => [field, this.#resolved(value)]));
  }

  #resolved(value: unknown): unknown {
    if (value instanceof SecretRef) {
      const secret = this.#options.secrets.get(value);
      if (secret === undefined) throw new Error(`${value.toString()} was not resolved`);
      return secret;
    }
    if (value instanceof ObjectRef) {
      const found = known(value, this.#actual);
      if (found === value.toString()) throw new Error(`${value.toString()} does not exist`);
      return found;
    }
    if (Array.isArray(value)) return value.map((member) => this.#resolved(member));
    return isRecord(value) ? this.#resolvedFields(Object.entries(value)) : value;
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
  const references = objectRefs(body).map((ref) => keyOf(ref.kind as KindName, ref.name));
  if (kind === 'key') {
    const organization = body['organization'] ?? DEFAULT_ORGANIZATION;
    return typeof organization === 'string'
      ? [...references, keyOf('organization', organization)]
      : references;
  }
  if (kind !== 'model') return references;
  const routes = Array.isArray(body['routes']) ? body['routes'].filter(isRecord) : [];
  const providers = routes.map((route) => keyOf('provider', String(route['provider'])));
  const fallbacks = fallbacksOf(body).map((name) => keyOf('model', name));
  return [...references, ...providers, ...fallbacks];
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
