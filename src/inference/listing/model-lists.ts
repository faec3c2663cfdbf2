import type { Clock, Timer } from '../../core/time/clock.ts';
import type { ListedModel } from '../../providers/listing/listed-model.ts';
import type { Key, Store, Version } from '../../store/store.ts';

const LISTS: Key = ['provider-models'];
/** Written with every list, so that a look costs one read while nothing changes. */
const EPOCH: Key = ['provider-models-epoch', 'now'];
/** The watch rings at once; a look makes up for a bell that was lost. */
const LOOK_MS = 30_000;
const MAX_PROVIDERS = 1_000;

type Row = readonly (readonly [name: string, created: number])[];

/** Lists of the models of providers, by the ids of these; all processes on a store see the same. */
export interface ModelLists {
  /** Reads the stored lists and then reports changes; rejects with `StoreError`. */
  start(onChange: (lists: ReadonlyMap<string, readonly ListedModel[]>) => void): Promise<void>;
  /** Durable when it resolves; the same list again writes nothing. Rejects with `StoreError`. */
  keep(provider: string, models: readonly ListedModel[]): Promise<void>;
  /** Rejects with `StoreError`. */
  forget(provider: string): Promise<void>;
  close(): void;
}

export function createModelLists({ store, clock }: { store: Store; clock: Clock }): ModelLists {
  let known = new Map<string, { version: Version; models: readonly ListedModel[] }>();
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
    seen = epoch?.version;
    return true;
  };

  return {
    async start(onChange) {
      const tell = (): void =>
        onChange(new Map([...known].map(([id, { models }]) => [id, models])));
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
    async keep(provider, models) {
      const key = [...LISTS, provider];
      const row: Row = models.map(({ name, created = 0 }) => [name, created]);
      const before = await store.get<Row>(key);
      if (before && JSON.stringify(before.value) === JSON.stringify(row)) return;
      await store.commit([
        { type: 'put', key, value: row },
        { type: 'put', key: EPOCH, value: clock.now() },
      ]);
    },
    async forget(provider) {
      await store.commit([
        { type: 'delete', key: [...LISTS, provider] },
        { type: 'put', key: EPOCH, value: clock.now() },
      ]);
    },
    close() {
      timer?.cancel();
      unwatch();
    },
  };
}

function toModels(row: Row): ListedModel[] {
  return row.map(([name, created]) => ({ name, created: created === 0 ? undefined : created }));
}
