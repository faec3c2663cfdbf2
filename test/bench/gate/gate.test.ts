import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { faultsOf, judgeRatios, ratiosOf, runGate } from './gate.js';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const KEPT = { '1 KB CPU': 2, 'one connection p50': 1.5, 'loaded RSS': 1.2 };

describe('the gate', () => {
  it('passes for the same ratios, better ones, and those within the tolerance', () => {
    expect(faultsOf(KEPT, KEPT)).toEqual([]);
    const within = { '1 KB CPU': 2.29, 'one connection p50': 1.94, 'loaded RSS': 0.3 };
    expect(faultsOf(KEPT, within)).toEqual([]);
    expect(judgeRatios(KEPT, within).map(({ verdict }) => verdict)).toEqual([
      'same',
      'same',
      'better',
    ]);
  });

  it('fails for each that is worse, and says which and by how much', () => {
    const worse = { '1 KB CPU': 2.4, 'one connection p50': 1.5, 'loaded RSS': 1.5 };
    expect(faultsOf(KEPT, worse)).toEqual([
      '1 KB CPU: 2.4 times the minimal proxy, kept are 2: 20 % more, 15 % are tolerated',
      'loaded RSS: 1.5 times the minimal proxy, kept are 1.2: 25 % more, 10 % are tolerated',
    ]);
  });

  it('fails where there is nothing to compare, or nothing was measured', () => {
    expect(faultsOf({}, { '1 KB CPU': 1 })).toEqual([
      '1 KB CPU: nothing is kept to compare with; use --update',
    ]);
    expect(faultsOf({ '1 KB CPU': 1, '32 KB CPU': 1 }, { '1 KB CPU': 1 })).toEqual([
      '32 KB CPU: kept, but not measured',
    ]);
    expect(() => faultsOf(KEPT, { '1 KB CPU': Number.NaN })).toThrow('could not be measured');
    expect(() => faultsOf(KEPT, { wings: 1 })).toThrow('no tolerance is stated for wings');
  });

  it('takes the median over the starts of the ratios of each', () => {
    const start = (gateway: number, proxy: number) => ({
      gateway: { '1 KB CPU': gateway },
      proxy: { '1 KB CPU': proxy },
    });
    expect(ratiosOf([start(100, 50), start(90, 30), start(500, 10)])).toEqual({ '1 KB CPU': 3 });
  });

  const run = async (kept: object, cpus: readonly number[], update = false) => {
    const directory = await directoryOfTest();
    const file = join(directory, 'ratios.json');
    await writeFile(file, JSON.stringify(kept));
    const said: string[] = [];
    const code = await runGate({
      measure: async (start) => ({
        gateway: { '1 KB CPU': cpus[start] ?? 0 },
        proxy: { '1 KB CPU': 10 },
      }),
      starts: cpus.length,
      file,
      update,
      say: (line) => said.push(line),
    });
    return { code, said, kept: JSON.parse(await readFile(file, 'utf8')) };
  };

  it(
    verifies(
      'ops.performance.gate',
      'ends with 1 and names what is worse than the kept ratio to the minimal proxy, else with 0',
    ),
    async () => {
      const fine = await run({ '1 KB CPU': 2 }, [20, 90, 21]);
      expect(fine.code).toBe(0);
      const worse = await run({ '1 KB CPU': 2 }, [20, 30, 31]);
      expect(worse.code).toBe(1);
      expect(worse.said.at(-1)).toBe(
        'worse: 1 KB CPU: 3 times the minimal proxy, kept are 2: 50 % more, 15 % are tolerated',
      );
      expect(worse.kept).toEqual({ '1 KB CPU': 2 });
    },
  );

  it('keeps the measured ratios when it is told to', async () => {
    expect(await run({ '1 KB CPU': 2 }, [30], true)).toMatchObject({
      code: 0,
      kept: { '1 KB CPU': 3 },
    });
  });

  it('has a ratio kept for every load', async () => {
    const kept = JSON.parse(await readFile(new URL('ratios.json', import.meta.url), 'utf8'));
    expect(Object.keys(kept).length).toBeGreaterThanOrEqual(8);
    expect(faultsOf(kept, kept)).toEqual([]);
  });
});
