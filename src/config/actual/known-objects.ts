import type { ActualState, View } from './actual.ts';
import { CONFIG_KINDS, type KindName } from '../objects/kinds.ts';

/** Objects as one apply knows them, kept up to date with its own writes. */
export class KnownObjects {
  readonly #lists: Record<KindName, View[]>;
  /** Positions in the list of the kind, by id. */
  readonly #places: Record<KindName, Map<string, number>>;

  constructor(actual: ActualState) {
    const perKind = <T>(make: (kind: KindName) => T) =>
      Object.fromEntries(CONFIG_KINDS.map(({ kind }) => [kind, make(kind)])) as Record<KindName, T>;
    this.#lists = perKind((kind) => [...actual[kind]]);
    this.#places = perKind((kind) => placesOf(actual[kind]));
  }

  /** Lists that change in place with every write. */
  get state(): ActualState {
    return this.#lists;
  }

  get(kind: KindName, id: string | null): View | undefined {
    const place = id === null ? undefined : this.#places[kind].get(id);
    return place === undefined ? undefined : this.#lists[kind][place];
  }

  /** Adds an object, or replaces its former view. */
  put(kind: KindName, view: View): void {
    const list = this.#lists[kind];
    const place = this.#places[kind].get(view.id) ?? list.length;
    list[place] = view;
    this.#places[kind].set(view.id, place);
  }

  remove(kind: KindName, id: string | null): void {
    this.#lists[kind] = this.#lists[kind].filter((view) => view.id !== id);
    this.#places[kind] = placesOf(this.#lists[kind]);
  }
}

function placesOf(views: readonly View[]): Map<string, number> {
  return new Map(views.map(({ id }, place) => [id, place]));
}
