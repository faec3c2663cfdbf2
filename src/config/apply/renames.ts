import { type ActualState, identityOf, namedBy, type View } from '../actual/actual.ts';
import { CONFIG_KINDS, type KindName } from '../objects/kinds.ts';
import { objectKey } from '../objects/object-refs.ts';
import type { PlanAction } from '../plan/plan-action.ts';

/** Object that refers to another one by its name. */
export interface Follower {
  readonly kind: KindName;
  readonly view: View;
}

/**
 * Names and slugs that one plan changes, which order its writes. What refers to an object by its name gets
 * the new one, and a new version, from the server.
 */
export class Renames {
  /** Objects that refer to a renamed one, by the key of its action. */
  readonly #followers = new Map<string, Follower[]>();
  /** Keys of the actions that rename what an object refers to so far, by its id. */
  readonly #ahead = new Map<string, string[]>();
  /** Keys of the actions that give up a slug, by that slug. */
  readonly #freed: ReadonlyMap<string, string>;

  constructor(actions: readonly PlanAction[], actual: ActualState) {
    this.#freed = new Map(actions.flatMap((planned) => slugOf(planned, 'old')));
    const keys = new Map(actions.flatMap((planned) => formerKey(planned, actual)));
    if (keys.size === 0) return;
    for (const { kind } of CONFIG_KINDS) {
      for (const view of actual[kind]) {
        for (const name of new Set(namedBy(kind, view, actual))) {
          const key = keys.get(name);
          if (key === undefined) continue;
          this.#followers.set(key, [...this.followersOf(key), { kind, view }]);
          this.#ahead.set(view.id, [...(this.#ahead.get(view.id) ?? []), key]);
        }
      }
    }
  }

  followersOf(key: string): readonly Follower[] {
    return this.#followers.get(key) ?? [];
  }

  /** Keys of earlier actions: renames that change the object, and the one that frees its slug. */
  aheadOf(planned: PlanAction): readonly string[] {
    const slug = slugOf(planned, 'new').flatMap(([name]) => this.#freed.get(name) ?? []);
    return [...(this.#ahead.get(planned.id ?? '') ?? []), ...slug];
  }
}

/** The slug that a change takes or gives up, with the key of the change. */
function slugOf(
  { kind, identity, changes }: PlanAction,
  side: 'old' | 'new',
): [slug: string, key: string][] {
  const slug = changes.find(({ field }) => field === 'slug')?.[side];
  const owner = identity.slice(0, identity.indexOf('/'));
  return typeof slug === 'string' ? [[`${kind} ${owner}/${slug}`, objectKey(kind, identity)]] : [];
}

/** The key of a renamed object as it is called so far, with the one that it gets. */
function formerKey(
  { kind, identity, action, id, changes }: PlanAction,
  actual: ActualState,
): [string, string][] {
  if (action !== 'update' || !changes.some(({ field }) => field === 'name')) return [];
  const view = actual[kind].find((one) => one.id === id);
  if (view === undefined) return [];
  return [[objectKey(kind, identityOf(kind, view, actual)), objectKey(kind, identity)]];
}
