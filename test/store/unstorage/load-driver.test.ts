import { describe, expect, it } from 'vitest';
import { loadDriver, unstorageDrivers } from '../../../src/store/unstorage/load-driver.ts';
import { temporaryDirectory } from '../../conformance/store-kill.ts';

const config = { driver: 'fs-lite' };

describe('a driver of unstorage', () => {
  it('is loaded by any spelling of its name', async () => {
    expect(unstorageDrivers()).toEqual(expect.arrayContaining(['fs-lite', 'fsLite', 'memory']));
    const driver = await loadDriver({ driver: 'memory' });
    await driver.setItem?.('a', 'b', {});
    expect(await driver.getItem('a')).toBe('b');
  });

  it('takes the path as its base unless the options name one', async () => {
    const [path, other] = [await temporaryDirectory(), await temporaryDirectory()];
    const baseOf = async (given: object) =>
      (await loadDriver({ ...config, ...given })).options as unknown;
    expect(await baseOf({ path })).toEqual({ base: path });
    expect(await baseOf({ path, options: { base: other, readOnly: true } })).toEqual({
      base: other,
      readOnly: true,
    });
  });

  it('that nobody knows is refused with those that are near', async () => {
    await expect(loadDriver({ driver: 'memry' })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('memory'),
    });
  });

  it('that refuses its options is told of with its reason', async () => {
    await expect(loadDriver(config)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^cannot load the store driver fs-lite: .*base/),
      cause: expect.any(Error),
    });
  });
});
