import { describe, expect, it, onTestFinished } from 'vitest';
import { createAssetRecords } from '../../src/assets/asset-records.ts';
import type { AssetRecord } from '../../src/assets/asset-records.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const ASSET: AssetRecord = {
  id: 'asset_1',
  externalId: 'media_1',
  organization: 'org_1',
  type: 'Image',
  name: null,
  at: 7,
  holder: { by: 'provider', account: 'prov_1' },
};

function setUp() {
  const store = openMemoryStore(createFakeClock());
  onTestFinished(() => store.close());
  const records = createAssetRecords(store);
  return { store, records, add: (asset: AssetRecord) => records.add(asset, [], store.commit) };
}

describe('the records of assets', () => {
  it('are found by their own organization, and by bearers of a link', async () => {
    const { records, add } = setUp();
    await add(ASSET);
    expect(await records.find('org_1', 'media_1')).toEqual(ASSET);
    expect(await records.find('org_2', 'media_1')).toBeUndefined();
    expect(await records.find('org_1', 'media_2')).toBeUndefined();
    expect(await records.findHeld('media_1')).toEqual(ASSET);
    expect(await records.findHeld('media_')).toBeUndefined();
    expect(await records.findHeld('media_2')).toBeUndefined();
  });

  it('are kept together with the operations of the same commit, or not at all', async () => {
    const { store, records } = setUp();
    const op = { type: 'put', key: ['named', 1], value: 1, ifAbsent: true } as const;
    await records.add(ASSET, [op], store.commit);
    expect((await store.get(['named', 1]))?.value).toBe(1);
    const other = { ...ASSET, externalId: 'media_2' };
    await expect(records.add(other, [op], store.commit)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await records.find('org_1', 'media_2')).toBeUndefined();
  });

  it('are none for an id that is longer than any, which is no error', async () => {
    const { records, add } = setUp();
    const longest = 'x'.repeat(200);
    await add({ ...ASSET, externalId: longest });
    expect(await records.find('org_1', longest)).toMatchObject({ externalId: longest });
    expect(await records.find('org_1', 'y'.repeat(100_000))).toBeUndefined();
    expect(await records.findHeld('y'.repeat(100_000))).toBeUndefined();
    expect(await records.find('org_1', 'x'.repeat(199))).toBeUndefined();
  });
});
