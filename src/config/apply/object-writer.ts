import { createHash } from 'node:crypto';
import { type ActualState, findActual, type View } from '../actual/actual.ts';
import type { ApplyOptions } from './apply-options.ts';
import { changesOf, known } from '../actual/changes.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { kindOf, type KindName } from '../objects/kinds.ts';
import { KnownObjects } from '../actual/known-objects.ts';
import { withIgnored } from '../plan/ignored.ts';
import { withoutLifecycle } from '../actual/lifecycle.ts';
import { labelsOf, type Owner, PRUNED_LABEL } from '../actual/ownership.ts';
import { ownedLabels } from '../plan/plan.ts';
import type { PlanAction } from '../plan/plan-action.ts';
import {
  isDeclaredPaused,
  isLeftPaused,
  mustPause,
  pauseAndUpdate,
  pauseNote,
  rebind,
  withBinding,
} from '../plan/rebind.ts';
import { isRecord } from '../objects/record.ts';
import type { Follower } from './renames.ts';
import { ObjectRef, SecretRef } from '../objects/references.ts';
import { triesAgain } from '../actual/try-again.ts';

type Body = Record<string, unknown>;

interface Target {
  readonly kind: KindName;
  readonly id: string;
  readonly version: number;
}

export interface WriterOptions extends Pick<
  ApplyOptions,
  'client' | 'secrets' | 'runId' | 'pause' | 'signal'
> {
  /** Absent: new objects get no owner, others keep theirs. */
  readonly owner?: Owner | undefined;
}

/** Writes the objects of one apply and keeps their new views, so that references resolve. */
export class ObjectWriter {
  readonly #options: WriterOptions;
  readonly #known: KnownObjects;
  /** Versions that renames of this apply gave to what refers to the renamed, by id. */
  readonly #followed = new Map<string, number>();

  constructor(options: WriterOptions, actual: ActualState) {
    this.#options = options;
    this.#known = new KnownObjects(actual);
  }

  /** State of the objects by now, as far as this apply knows. */
  get actual(): ActualState {
    return this.#known.state;
  }

  /** Writes the object as declared; rejects when the server did not keep all of it. */
  async write(planned: PlanAction, declared: DesiredObject): Promise<View> {
    const before = this.#known.get(declared.kind, planned.id);
    const isKept = planned.action === 'update' && before !== undefined;
    const object = isKept ? withIgnored(declared, before) : declared;
    const view = await this.#writeAs(planned, object);
    this.#known.put(object.kind, view);
    if (this.#options.client.isOwn !== true) this.#refuseDropped(object, view);
    return view;
  }

  /** The action for the version that the object has by now because of this apply itself. */
  asOfNow(planned: PlanAction): PlanAction {
    const version = this.#followed.get(planned.id ?? '');
    return version === undefined ? planned : { ...planned, version };
  }

  /**
   * Reads what a rename has changed along with the renamed. Anything else that changed keeps its
   * version here, so that its own update finds it.
   */
  async follow(followers: readonly Follower[]): Promise<void> {
    for (const kind of new Set(followers.map((one) => one.kind))) {
      const ids = new Set(followers.flatMap((one) => (one.kind === kind ? one.view.id : [])));
      const views = await this.#options.client.list(kind).catch(() => []);
      for (const view of views.filter(({ id }) => ids.has(id))) {
        if (view.version - 1 !== this.#known.get(kind, view.id)?.version) continue;
        this.#known.put(kind, view);
        this.#followed.set(view.id, view.version);
      }
    }
  }

  async remove({ kind, action, id, version }: PlanAction): Promise<View | undefined> {
    const { client } = this.#options;
    const target = id ?? '';
    if (action === 'delete') {
      await this.#again(() => client.delete(kind, target));
      return undefined;
    }
    if (action === 'archive') return this.#again(() => client.archive(kind, target));
    const view = this.#known.get(kind, target);
    const note = { labels: { ...(view && labelsOf(view)), [PRUNED_LABEL]: 'true' } };
    const body = { ...kindOf(kind).off, ...(action === 'disable' && note) };
    return this.#update({ kind, id: target, version: version ?? 0 }, body);
  }

  async #writeAs(planned: PlanAction, object: DesiredObject): Promise<View> {
    const { kind, action, id, version } = planned;
    if (action === 'update') {
      const target = { kind, id: id ?? '', version: version ?? 0 };
      return this.#change(target, planned, object);
    }
    if (action === 'replace') {
      const { client } = this.#options;
      await this.#again(() => client.delete(kind, id ?? ''));
      this.#known.remove(kind, id);
    }
    return this.#create(object);
  }

  async #change(target: Target, planned: PlanAction, object: DesiredObject): Promise<View> {
    const { client } = this.#options;
    const { kind, id } = target;
    const view = this.#known.get(kind, id);
    const fields = new Set(planned.changes.map(({ field }) => field));
    const body = withBinding(kind, this.#patch(planned, object), view);
    const update = (version: number) => this.#update({ ...target, version }, body, object);
    // A paused object must run again, also when a stop is asked for.
    const again = <T>(write: () => Promise<T>) =>
      triesAgain(write, { pause: this.#options.pause, look: undefined, signal: undefined });
    const stays = isDeclaredPaused(kind, object);
    const isLeft = view !== undefined && !stays && isLeftPaused(kind, view);
    if (isLeft && fields.size === 1) return again(() => client.act(kind, id, 'unpause'));
    if (!view || !(isLeft || mustPause(kind, fields, view))) return update(target.version);
    if (stays) return pauseAndUpdate({ ...target, client, update, again });
    const note = pauseNote(view);
    if (body['labels']) Object.assign(body['labels'], note);
    const labels = { ...labelsOf(view), ...note };
    const noting = (version: number) => this.#update({ ...target, version }, { labels });
    return rebind({ ...target, client, note: noting, update, again });
  }

  /** An answer that never came may still have taken effect: the object itself is asked. */
  #create(object: DesiredObject): Promise<View> {
    const { client, owner } = this.#options;
    const { kind, identity } = object;
    const labels = owner ? ownedLabels(object, owner, this.actual) : object.labels;
    const body = { ...this.#resolvedFields(Object.entries(object.body), object), labels };
    return this.#again(
      () => client.create(kind, body, this.#nameOf(object)),
      owner &&
        (async () => {
          const actual = { ...this.actual, [kind]: await client.list(kind) };
          const [found] = findActual(kind, identity, actual);
          return found && labelsOf(found)[owner.label] === owner.value ? found : undefined;
        }),
    );
  }

  #nameOf({ kind, identity }: DesiredObject): string | undefined {
    const { runId } = this.#options;
    if (runId === undefined) return undefined;
    return createHash('sha256').update(`${runId} ${kind}/${identity}`).digest('hex');
  }

  /**
   * Updates as a creation does: an update that took effect without an answer shows in the object.
   */
  #update({ kind, id, version }: Target, body: Body, object?: DesiredObject): Promise<View> {
    const { client } = this.#options;
    return this.#again(
      () => client.update(kind, id, { body, expectedVersion: version }),
      async () => {
        const view = (await client.list(kind)).find((one) => one.id === id);
        if (view === undefined || view.version === version) return undefined;
        const isDone = object ? this.#differences(object, view).length === 0 : true;
        return isDone ? view : undefined;
      },
    );
  }

  #again<T>(write: () => Promise<T>, look?: () => Promise<T | undefined>): Promise<T> {
    return triesAgain(write, { look, pause: this.#options.pause, signal: this.#options.signal });
  }

  #patch(planned: PlanAction, object: DesiredObject): Body {
    const { owner } = this.#options;
    const fields = new Set(planned.changes.map(({ field }) => field));
    const view = this.#known.get(planned.kind, planned.id);
    const changed = Object.entries(object.body).filter(([field]) => fields.has(field));
    const unowned = owner === undefined || planned.ownership === 'none';
    // A value that is switched on again, or reset, is a default that no file names.
    const { off = {} } = kindOf(object.kind);
    const standard = planned.changes
      .filter(({ field }) => field !== 'labels' && !(field in object.body))
      .filter(({ field, reset }) => reset === true || field in off)
      .map((change) => [change.field, change.new] as const);
    const fieldsNow = [...standard, ...changed];
    const patch = {
      ...asPatch(object.kind, this.#resolvedFields(fieldsNow, object), view),
      ...guardsOf(object.kind, fields, view),
    };
    if (unowned && !fields.has('labels')) return patch;
    const own = unowned ? object.labels : ownedLabels(object, owner, this.actual);
    const found = view ? labelsOf(view) : {};
    const { [PRUNED_LABEL]: _pruned, ...rest } = withoutLifecycle(found);
    const present = owner ? rest : found;
    const gone = new Set(planned.changes.map(({ path, reset }) => (reset ? path : '')));
    const kept = Object.entries(present).filter(
      ([name]) => !gone.has(`labels[${JSON.stringify(name)}]`),
    );
    return { ...patch, labels: { ...Object.fromEntries(kept), ...own } };
  }

  #resolvedFields(entries: readonly (readonly [string, unknown])[], object: DesiredObject): Body {
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
      const found = known(value, this.actual, object);
      if (found === value.toString()) throw new Error(`${value.toString()} does not exist`);
      return found;
    }
    if (Array.isArray(value)) return value.map((member) => this.#resolved(member, object));
    return isRecord(value) ? this.#resolvedFields(Object.entries(value), object) : value;
  }

  /** A server that does not know a field drops it silently; that is no success. */
  #refuseDropped(object: DesiredObject, view: View): void {
    const differing = this.#differences(object, view);
    if (differing.length === 0) return;
    throw new Error(`the server did not keep ${differing.map(({ path }) => path).join(', ')}`);
  }

  #differences(object: DesiredObject, view: View): { path: string }[] {
    return changesOf({ object, view, actual: this.actual, secrets: new Set() });
  }
}

/**
 * Body of an update that removes, by null, members that are no longer declared of a map that is
 * patched member by member.
 */
function asPatch(kind: KindName, fields: Readonly<Body>, view: View | undefined): Body {
  const { patched = [] } = kindOf(kind).definition;
  const entries = Object.entries(fields).map(([field, value]) => {
    const current = view?.[field];
    if (!patched.includes(field) || !isRecord(value) || !isRecord(current)) return [field, value];
    const gone = Object.keys(current).map((key) => [key, null] as const);
    return [field, { ...Object.fromEntries(gone), ...value }];
  });
  return Object.fromEntries(entries) as Body;
}

/** Guards of the present state that some changes must carry (requirement cli.apply.rebind). */
function guardsOf(kind: KindName, fields: ReadonlySet<string>, view: View | undefined): Body {
  const guards = Object.entries(kindOf(kind).guards).filter(([field]) => fields.has(field));
  return Object.fromEntries(guards.map(([field, guard]) => [guard, view?.[field]]));
}
