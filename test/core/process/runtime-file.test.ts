import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHostLiveness } from '../../../src/core/liveness.ts';
import { createPsLiveness } from '../../../src/core/process/ps-liveness.ts';
import {
  createOwnRecord,
  findRuntime,
  noteOutcome,
  readRuntimes,
  removeRuntime,
  writeRuntime,
} from '../../../src/core/process/runtime-file.ts';
import { verifies } from '../../requirements.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { placeOf } from '../../support/process/place-of.ts';

const FACTS = {
  url: 'http://127.0.0.1:8787',
  since: '2026-01-01T00:00:00.000Z',
  version: '1.2.3',
  files: ['/a/gateway.yaml'],
  watch: false,
};
const { own } = createHostLiveness() ?? expect.fail('no /proc');
const OWN = { ...FACTS, pid: process.pid, place: own };
const last = { action: 'reload', begun: 0, at: 1, error: null } as const;

let dataDir: string;
const read = async (name = 'runtime.json') =>
  JSON.parse(await readFile(join(dataDir, name), 'utf8'));
const put = (record: object, name = 'runtime.json') =>
  writeFile(join(dataDir, name), JSON.stringify({ ...FACTS, ...record }));
/** The process that started this one, which outlives it. */
const parent = () => placeOf(process.ppid);

beforeEach(async () => {
  dataDir = await directoryOfTest();
});

describe('the file of the running gateway', () => {
  it('has its address and its process, for its owner alone', async () => {
    dataDir = join(dataDir, 'deep');
    await writeRuntime(dataDir, FACTS);
    expect(await read()).toEqual(OWN);
    expect((await stat(join(dataDir, 'runtime.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    expect(await readdir(dataDir)).toEqual(['runtime.json']);
    expect(readRuntimes(dataDir)).toEqual([
      { file: join(dataDir, 'runtime.json'), record: OWN, state: 'running' },
    ]);
  });

  it('is made again, private, where there is one', async () => {
    await writeFile(join(dataDir, 'runtime.json'), '{}', { mode: 0o644 });
    await writeRuntime(dataDir, FACTS);
    expect(await read()).toEqual(OWN);
    expect((await stat(join(dataDir, 'runtime.json'))).mode & 0o777).toBe(0o600);
  });

  it('has the outcome of the last signal', async () => {
    await writeRuntime(dataDir, FACTS);
    await noteOutcome(dataDir, last, FACTS.files);
    expect(await read()).toEqual({ ...OWN, last });
    const next = { action: 'restart', begun: 1, at: 2, error: 'no' } as const;
    await noteOutcome(dataDir, next, ['/b.yaml']);
    expect(await read()).toEqual({ ...OWN, files: ['/b.yaml'], last: next });
  });

  it('is removed at the end', async () => {
    await writeRuntime(dataDir, FACTS);
    await removeRuntime(dataDir);
    expect(await readdir(dataDir)).toEqual([]);
    await noteOutcome(dataDir, last, FACTS.files);
    expect(await readdir(dataDir)).toEqual([]);
  });
});

describe('a second process in the folder', () => {
  it(
    verifies('process.status', 'a second process does not take the place of the first'),
    async () => {
      const first = parent();
      await put(first);
      await writeRuntime(dataDir, { ...FACTS, url: 'http://127.0.0.1:1' });
      await noteOutcome(dataDir, last, FACTS.files);
      expect(await read()).toEqual({ ...FACTS, ...first });
      const [one, two] = readRuntimes(dataDir);
      expect(one?.record.pid).toBe(first.pid);
      expect(two?.record).toEqual({ ...OWN, url: 'http://127.0.0.1:1', last });
      expect(findRuntime(dataDir)?.record.pid).toBe(first.pid);
      await removeRuntime(dataDir);
      expect(await readdir(dataDir)).toEqual(['runtime.json']);
    },
  );

  it('is found when the first one has ended', async () => {
    await put(parent());
    await writeRuntime(dataDir, FACTS);
    await put({ pid: process.ppid, place: { ...parent().place, started: '1' } });
    expect(findRuntime(dataDir)?.record).toEqual(OWN);
  });

  it('takes the place of one that has ended, and removes what is left of others', async () => {
    const gone = { ...own, started: '1' };
    await put({ pid: process.pid, place: gone });
    await put({ pid: 7, place: { ...gone, pid: 7 } }, 'runtime.7.json');
    await writeRuntime(dataDir, FACTS);
    expect(await readdir(dataDir)).toEqual(['runtime.json']);
    expect(await read()).toEqual(OWN);
  });
});

describe('a process of a file', () => {
  it.each([
    ['is the same by id and start', () => parent(), 'running'],
    [
      'is another one that got its id',
      () => ({ ...parent(), place: { ...own, pid: process.ppid, started: '1' } }),
      'ended',
    ],
    [
      'was before the machine started again',
      () => ({ pid: 1, place: { ...own, pid: 1, host: 'other pid:[1]' } }),
      'ended',
    ],
    [
      'may be in a container',
      () => ({ pid: 1, place: { ...own, pid: 1, host: `${own.host.split(' ')[0]} pid:[1]` } }),
      'unsure',
    ],
    ['of an earlier version has no start', () => ({ pid: process.ppid }), 'unsure'],
    ['of an earlier version is gone', () => ({ pid: 2 ** 22 + 1 }), 'ended'],
  ])('%s', async (_what, record, state) => {
    await put(record());
    expect(readRuntimes(dataDir).map((one) => one.state)).toEqual([state]);
  });

  it('is nowhere in what is no file of a gateway', async () => {
    for (const text of ['{', 'null', '[]', '{"url":1}']) {
      await writeFile(join(dataDir, 'runtime.json'), text);
      expect(readRuntimes(dataDir)).toEqual([]);
    }
    expect(readRuntimes(join(dataDir, 'none'))).toEqual([]);
  });
});

describe('the record of this process', () => {
  const { parent: above } = createHostLiveness() ?? {};

  it.each([
    ['its own', () => OWN, true],
    ['that of the process which started it', () => ({ pid: process.ppid, place: above }), true],
    ['none of another container', () => ({ ...OWN, place: { ...own, host: 'other' } }), false],
    ['none of a former process', () => ({ ...OWN, place: { ...own, started: '1' } }), false],
  ])(verifies('process.status', 'is %s'), async (_what, record, isFound) => {
    await put(record());
    expect(createOwnRecord()(dataDir) !== undefined).toBe(isFound);
  });

  it('is found with one look at the processes, whenever it is asked for', async () => {
    let looks = 0;
    const find = createOwnRecord(createPsLiveness(() => `start ${++looks}`));
    const { pid } = process;
    await put({ pid, place: { host: '', pid, started: 'start 1' } });
    expect([find(dataDir), find(dataDir)]).toMatchObject([{ pid }, { pid }]);
    expect(looks).toBe(2);
  });
});

describe('without /proc', () => {
  it('the start of a process is what ps prints', () => {
    const liveness = createPsLiveness() ?? expect.fail('no ps');
    expect(liveness.own.started).toMatch(/^\w{3} \w{3} \d+ [\d:]{8} \d{4}$/);
    expect(liveness.isGone(liveness.own)).toBe(false);
    expect(liveness.isGone({ ...liveness.own, started: 'Thu Jan 1 00:00:00 1970' })).toBe(true);
    expect(liveness.isGone({ ...liveness.own, pid: 2 ** 22 + 1 })).toBe(true);
    expect(liveness.parent?.pid).toBe(process.ppid);
    expect(createPsLiveness(() => undefined)).toBeUndefined();
  });

  it(
    verifies('process.status', 'without /proc, the name of the machine says nothing of a process'),
    async () => {
      const liveness = createPsLiveness((pid) => `start of ${pid}`) ?? expect.fail('no ps');
      const [host, pid] = ['former.local', process.ppid];
      await put({ pid, place: { host, pid, started: `start of ${pid}` } });
      expect(readRuntimes(dataDir, liveness).map(({ state }) => state)).toEqual(['running']);
      await put({ pid, place: { host, pid, started: 'another start' } });
      expect(readRuntimes(dataDir, liveness).map(({ state }) => state)).toEqual(['ended']);
    },
  );
});
