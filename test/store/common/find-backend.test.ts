import { describe, expect, it } from 'vitest';
import { defineBackend, type Backend } from '../../../src/store/backend.ts';
import {
  addressForms,
  backendOf,
  fileOf,
  findBackend,
  isInFiles,
  keepsJournal,
} from '../../../src/store/find-backend.ts';
import { openRaw, openRawTarget } from '../../../src/store/raw/open-raw.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const open = async (): Promise<never> => {
  throw new Error('not opened here');
};
const own = defineBackend({
  drivers: ['own', 'mine'],
  scope: 'host',
  packages: [],
  place: { kind: 'memory' },
  open,
});
const rest = defineBackend({
  drivers: [],
  others: { description: 'others', names: async () => ['one', 'two'] },
  scope: 'process',
  packages: [],
  place: { kind: 'folder', drivers: ['one'] },
  open,
});
const BOTH: readonly Backend[] = [rest, own];

describe('finding a backend', () => {
  it.each([
    ['own', own],
    ['mine', own],
    ['one', rest],
    ['two', rest],
  ])(
    'gives the one that has the driver %s, before those that stand in',
    async (driver, backend) => {
      expect(await findBackend(driver, BOTH)).toBe(backend);
      expect(backendOf(driver, BOTH)).toBe(backend);
    },
  );

  it('refuses a name that nobody has, and lists all there are', async () => {
    await expect(findBackend('none-of-these', BOTH)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/known are own, mine, one, two$/),
    });
    await expect(findBackend('none-of-these', [own])).rejects.toMatchObject({
      message: expect.stringMatching(/known are own, mine$/),
    });
    expect(backendOf('none-of-these', [own])).toBeUndefined();
    expect(backendOf('none-of-these', BOTH)).toBe(rest);
  });

  it.each([
    ['lmdb', { files: true, journal: true, file: 'data.mdb' }],
    ['fs', { files: true, journal: false, file: undefined }],
    ['fsLite', { files: true, journal: false, file: undefined }],
    ['s3', { files: false, journal: false, file: undefined }],
    ['memory', { files: false, journal: false, file: undefined }],
    ['redis', { files: false, journal: false, file: undefined }],
    ['postgres', { files: false, journal: false, file: undefined }],
  ])('tells where the rows of %s lie', (driver, { files, journal, file }) => {
    expect(isInFiles(driver)).toBe(files);
    expect(keepsJournal(driver)).toBe(journal);
    expect(fileOf(driver)).toBe(file);
  });

  it('lists the addresses of stores that outlive a process', () => {
    const server = defineBackend({
      ...own,
      place: { kind: 'server', schemes: ['own'], parameters: {}, form: 'own://HOST' },
    });
    expect(addressForms([rest, own, server])).toEqual(['one:PATH', 'own://HOST']);
  });
});

describe('opening the rows of a store as they lie there', () => {
  const clock = createFakeClock();

  it.each([
    ['for reading', () => openRaw({ driver: 'own' }, { clock, isHeld: false }, BOTH)],
    ['for filling', () => openRawTarget({ driver: 'own' }, clock, BOTH)],
  ])('is refused %s where nothing outlives the process', async (_what, opening) => {
    await expect(opening()).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the own store ends with its process',
    });
  });
});
