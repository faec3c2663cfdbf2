import type { Clock, Timer } from '../../core/time/clock.ts';
import type { ListedModel } from '../../providers/listing/listed-model.ts';
import type { Key, Store, Version } from '../../store/store.ts';

const LISTS: Key = ['provider-models'];
/** Why a provider could not be listed, until it was. */
const FAULTS: Key = ['provider-models-faults'];
/** Written with every list, so that a look costs one read while nothing changes. */
const EPOCH: Key = ['provider-models-epoch', 'now'];
/** The watch rings at once; a look makes up for a bell that was lost. */
const LOOK_MS = 30_000;
const MAX_PROVIDERS = 1_000;

type Row = readonly (readonly [name: string, created: number])[];

/** Stored lists, and reasons of those that failed, by the ids of providers. */
export interface FoundModels {
  readonly lists: ReadonlyMap<string, readonly ListedModel[]>;
  readonly faults: ReadonlyMap<string, string>;
}

/** Lists of the models of providers, by the ids of these; all processes on a store see the same. */
export interface ModelLists {
  /** Reads the stored lists and then reports changes; rejects with `StoreError`. */
  start(onChange: (found: FoundModels) => void): Promise<void>;
  /** Keeps why a list failed, until the next one is kept. Rejects with `StoreError`. */
  fail(provider: string, reason: string): Promise<void>;
  /** Durable when it resolves; the same list again writes nothing. Rejects with `StoreError`. */
  keep(provider: string, models: readonly ListedModel[]): Promise<void>;
  /** Rejects with `StoreError`. */
  forget(provider: string): Promise<void>;
  close(): void;
}

export function createModelLists({ store, clock }: { store: Store; clock: Clock }): ModelLists {
  let known = new Map<string, { version: Version; models: readonly ListedModel[] }>();
  let faults: ReadonlyMap<string, string> = new Map();
  let seen: Version | undefined;
  let timer: Timer | undefined;
  let unwatch = (): void => undefined;

  const read = async (): Promise<boolean> => {
    const epoch = await store.get(EPOCH);
    if (epoch?.version === seen) return false;
    const rows = await store.list<Row>({ prefix: LISTS, limit: MAX_PROVIDERS });
    known = new Map(
      rows.map(({ key, version, value }) => {
        const id = String(key.at(-1));
        const before = known.get(id);
        // An unchanged list stays the same object.
        return [id, before?.version === version ? before : { version, models: toModels(value) }];
      }),
    );
    const failed = await store.list<string>({ prefix: FAULTS, limit: MAX_PROVIDERS });
    faults = new Map(failed.map(({ key, value }) => [String(key.at(-1)), value]));
    seen = epoch?.version;
    return true;
  };

  return {
    async start(onChange) {
      const tell = (): void =>
        onChange({ lists: new Map([...known].map(([id, { models }]) => [id, models])), faults });
      const look = (): void => {
        // The next look makes up for one that fails.
        read().then(
          (isNews) => isNews && tell(),
          () => undefined,
        );
      };
      const lookAgain = (): void => {
        look();
        timer = clock.setTimeout(lookAgain, LOOK_MS);
      };
      await read();
      tell();
      unwatch = store.watch(EPOCH.slice(0, 1), look);
      timer = clock.setTimeout(lookAgain, LOOK_MS);
    },
    ...createWriter({ store, clock }),
    close() {
      timer?.cancel();
      unwatch();
    },
  };
}

function createWriter({
  store,
  clock,
}: {
  store: Store;
  clock: Clock;
}): Pick<ModelLists, 'fail' | 'keep' | 'forget'> {
  return {
    async fail(provider, reason) {
      await store.commit([
        { type: 'put', key: [...FAULTS, provider], value: reason },
        { type: 'put', key: EPOCH, value: clock.now() },
      ]);
    },
    async keep(provider, models) {
      const key = [...LISTS, provider];
      const fault = [...FAULTS, provider];
      const row: Row = models.map(({ name, created = 0 }) => [name, created]);
      const before = await store.get<Row>(key);
      const isSame = before && JSON.stringify(before.value) === JSON.stringify(row);
      if (isSame && !(await store.get(fault))) return;
      await store.commit([
        { type: 'put', key, value: row },
        { type: 'delete', key: fault },
        { type: 'put', key: EPOCH, value: clock.now() },
      ]);
    },
    async forget(provider) {
      await store.commit([
        { type: 'delete', key: [...LISTS, provider] },
        { type: 'delete', key: [...FAULTS, provider] },
        { type: 'put', key: EPOCH, value: clock.now() },
      ]);
    },
  };
}

function toModels(row: Row): ListedModel[] {
  return row.map(([name, created]) => ({ name, created: created === 0 ? undefined : created }));
}
