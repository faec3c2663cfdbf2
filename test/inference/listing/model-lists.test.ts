import { expect, it, onTestFinished } from 'vitest';
import { createModelLists } from '../../../src/inference/listing/model-lists.ts';
import type { ModelLists } from '../../../src/inference/listing/model-lists.ts';
import type { ListedModel } from '../../../src/providers/listing/listed-model.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const KEY = ['provider-models', 'prov_1'];
const settled = () => new Promise((resolve) => setImmediate(resolve));

type Told = ReadonlyMap<string, readonly ListedModel[]>;

/** Lists that write down what they tell; without `bell`, nobody rings when something is written. */
function setUp({ bell = true } = {}) {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const deaf: Store = { ...store, watch: () => () => undefined };
  const lists = createModelLists({ store: bell ? store : deaf, clock });
  const told: Told[] = [];
  let faults: ReadonlyMap<string, string> = new Map();
  onTestFinished(() => lists.close());
  const start = (): Promise<void> =>
    lists.start((now) => {
      told.push(now.lists);
      faults = now.faults;
    });
  return { clock, store, lists, told, start, faults: () => faults };
}

/** Keeps a list as another process on the store does. */
function another({ clock, store }: ReturnType<typeof setUp>): ModelLists {
  return createModelLists({ store, clock });
}

it('tells at the start of what was kept, with an empty list where nothing was', async () => {
  const { told, start } = setUp();
  await start();
  expect(told).toEqual([new Map()]);
});

it('keeps the time that a model was made, and gives none where there was none', async () => {
  const { store, lists, told, start } = setUp();
  await lists.keep('prov_1', [{ name: 'old', created: 7 }, { name: 'new' }]);
  expect((await store.get(KEY))?.value).toEqual([
    ['old', 7],
    ['new', 0],
  ]);
  await start();
  expect(told).toEqual([new Map([['prov_1', [{ name: 'old', created: 7 }, { name: 'new' }]]])]);
});

it('writes nothing for the same list, and the next for another', async () => {
  const { store, lists } = setUp();
  await lists.keep('prov_1', [{ name: 'one' }]);
  const first = await store.get(KEY);
  await lists.keep('prov_1', [{ name: 'one' }]);
  expect((await store.get(KEY))?.version).toBe(first?.version);
  await lists.keep('prov_1', [{ name: 'two' }]);
  expect((await store.get(KEY))?.value).toEqual([['two', 0]]);
});

it('tells of a list that another process keeps, and that it forgets', async () => {
  const setting = setUp();
  await setting.start();
  const other = another(setting);
  await other.keep('prov_1', [{ name: 'one' }]);
  await settled();
  expect(setting.told.at(-1)).toEqual(new Map([['prov_1', [{ name: 'one' }]]]));
  await other.forget('prov_1');
  await settled();
  expect(setting.told.at(-1)).toEqual(new Map());
});

it('gives an unchanged list as the same object beside one that changed', async () => {
  const setting = setUp();
  await setting.lists.keep('prov_1', [{ name: 'one' }]);
  await setting.start();
  await another(setting).keep('prov_2', [{ name: 'two' }]);
  await settled();
  const [before, after] = [setting.told[0], setting.told.at(-1)];
  expect(after?.size).toBe(2);
  expect(after?.get('prov_1')).toBe(before?.get('prov_1'));
});

it('looks every half a minute for what no bell told of, and tells nothing where nothing changed', async () => {
  const setting = setUp({ bell: false });
  const { clock, told, start } = setting;
  await start();
  await another(setting).keep('prov_1', [{ name: 'one' }]);
  clock.advance(29_999);
  await settled();
  expect(told).toHaveLength(1);
  clock.advance(1);
  await settled();
  expect(told).toHaveLength(2);
  clock.advance(30_000);
  await settled();
  expect(told).toHaveLength(2);
  await another(setting).forget('prov_1');
  clock.advance(30_000);
  await settled();
  expect(told.at(-1)).toEqual(new Map());
});

it('tells why a list failed, until one is kept again', async () => {
  const setting = setUp();
  await setting.start();
  await setting.lists.keep('prov_1', [{ name: 'one' }]);
  await setting.lists.fail('prov_1', 'connect ECONNREFUSED');
  await settled();
  expect(setting.faults()).toEqual(new Map([['prov_1', 'connect ECONNREFUSED']]));
  expect(setting.told.at(-1)?.has('prov_1')).toBe(true);
  await setting.lists.keep('prov_1', [{ name: 'one' }]);
  await settled();
  expect(setting.faults()).toEqual(new Map());
});

it('looks no more once it is closed', async () => {
  const setting = setUp();
  const { clock, lists, told, start } = setting;
  const before = clock.pending;
  await start();
  expect(clock.pending).toBe(before + 1);
  lists.close();
  expect(clock.pending).toBe(before);
  await another(setting).keep('prov_1', [{ name: 'one' }]);
  await settled();
  expect(told).toHaveLength(1);
});
