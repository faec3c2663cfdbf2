import { describe, expect, it } from 'vitest';
import {
  nodeFileLimits,
  readFileLimit,
  usualConnections,
} from '../../../src/upstream/places/file-limit.ts';

const LINUX = `Limit                     Soft Limit           Hard Limit           Units
Max processes             63000                63000                processes
Max open files            1024                 524288               files
`;

const reportOf = (soft: unknown) => ({ userLimits: { open_files: { soft, hard: 'unlimited' } } });
const none = () => Promise.reject(new Error('ENOENT'));

describe('the file limit', () => {
  it('is what the system says of this process or of another one', async () => {
    const asked: unknown[] = [];
    const readLimits = async (process: number | 'self') => (asked.push(process), LINUX);
    const sources = { readLimits, readReport: () => reportOf(99) };
    expect(await readFileLimit(sources)).toBe(1024);
    expect(await readFileLimit(sources, 7)).toBe(1024);
    expect(asked).toEqual(['self', 7]);
    const unlimited = async () =>
      'Max open files            unlimited            unlimited    files';
    expect(await readFileLimit({ ...sources, readLimits: unlimited })).toBe(Infinity);
  });

  it('is in the report of the process where the system has no such file', async () => {
    const read = (soft: unknown) =>
      readFileLimit({ readLimits: none, readReport: () => reportOf(soft) });
    expect(await read(256)).toBe(256);
    expect(await read('10240')).toBe(10_240);
    expect(await read('unlimited')).toBe(Infinity);
    expect(await read('nonsense')).toBeUndefined();
    expect(await readFileLimit({ readLimits: none, readReport: () => ({}) })).toBeUndefined();
    const sources = { readLimits: none, readReport: () => reportOf(256) };
    expect(await readFileLimit(sources, 7)).toBeUndefined();
  });

  it('is known of the process that runs this', async () => {
    expect(await readFileLimit(nodeFileLimits)).toBeGreaterThan(0);
    const report = { ...nodeFileLimits, readLimits: none };
    expect(await readFileLimit(report)).toBeGreaterThan(0);
  });
});

it('gives a provider half of the files, at most 4,096 and never none', () => {
  expect([1024, 8192, 1_048_576, Infinity, 1].map((files) => usualConnections(files))).toEqual([
    512, 4096, 4096, 4096, 1,
  ]);
  expect(usualConnections(undefined)).toBe(512);
});
