import type { Clock } from '../core/time/clock.ts';
import type { RawStore, RawTarget } from './raw/raw-store.ts';
import type { StoreConfig } from './store-config.ts';
import type { Store, StoreScope } from './store.ts';

/** Rows in a folder of this machine, or elsewhere by the options of the driver. */
export interface FolderPlace {
  readonly kind: 'folder';
  /** Drivers whose rows are files below `path`; commands name such a store `DRIVER:PATH` by the first. */
  readonly drivers: readonly [string, ...string[]];
  /** Name of the file that is in the folder of every store. Default: none is sure. */
  readonly file?: string;
}

/** Rows in a database server, which commands name by a URL. */
export interface ServerPlace {
  readonly kind: 'server';
  /** Schemes of its URLs, without the colon. */
  readonly schemes: readonly [string, ...string[]];
  /** Parameters of such a URL that are options of the store; the driver gets the others. */
  readonly parameters: Readonly<Record<string, 'text' | 'flag'>>;
  /** Form of such a URL for help and errors, as `redis://HOST/?prefix=NAME:`. */
  readonly form: string;
}

/** Rows that end with the process. */
export interface MemoryPlace {
  readonly kind: 'memory';
}

export interface RawOpening {
  readonly clock: Clock;
  readonly isHeld: boolean;
  readonly isToServe?: boolean | undefined;
}

/** Rows as they lie there, for `store verify` and `store migrate`. Rejections are `StoreError`s. */
export interface RawAccess {
  /**
   * Opens a store that is there, for reading; its format stays as it is. `isHeld`: keeps others from the
   * store as far as the backend can. `isToServe`: refuses what a gateway could not serve from, too.
   */
  open(config: StoreConfig, options: RawOpening): Promise<RawStore>;
  /** Opens or makes a store that another one is to be copied into. */
  openTarget(config: StoreConfig, clock: Clock): Promise<RawTarget>;
}

/** A way to keep the rows of a store (design: Store). */
export interface Backend {
  /** Values of `server.store.driver` that name it. */
  readonly drivers: readonly string[];
  /** Opens the drivers that no backend names. Default: it does not. */
  readonly others?: {
    /** Describes these names in the documentation of `server.store.driver`. */
    readonly description: string;
    /** Resolves with these names. */
    names(): Promise<readonly string[]>;
  };
  /** Reach of the guarantees of its stores. */
  readonly scope: StoreScope;
  /** Packages that it loads when a store is opened, and not before. */
  readonly packages: readonly string[];
  readonly place: FolderPlace | ServerPlace | MemoryPlace;
  /** Opens a store, and makes it where there is none. Rejects with `StoreError`. */
  open(config: StoreConfig, deps: { clock: Clock }): Promise<Store>;
  /** Absent where nothing outlives the process. */
  readonly raw?: RawAccess;
  /**
   * True: its package may end the process over damaged files, so that `store verify` reads them in a
   * process of its own. Default false.
   */
  readonly mayEndReader?: boolean;
}

/** Declares a backend. A definition loads none of its packages by itself. */
export function defineBackend<const B extends Backend>(definition: B): B {
  return definition;
}
