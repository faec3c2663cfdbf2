import { expect, it } from 'vitest';
import { isFileDriver } from '../../../src/store/unstorage/file-drivers.ts';

it('tells drivers that keep files from those that do not', () => {
  for (const name of ['fs', 'fs-lite', 'fsLite']) expect(isFileDriver(name), name).toBe(true);
  for (const name of ['memory', 'redis', 's3', 'FS', '', 'fs-'])
    expect(isFileDriver(name), name).toBe(false);
});
