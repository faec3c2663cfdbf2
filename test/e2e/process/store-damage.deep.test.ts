import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { newDirectory, runGateway, startGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { refusedStart } from '../../support/process/refused-start.ts';

const SENTENCE = /is damaged: [^`\n]+; restore a backup: `gateway store restore BACKUP --replace`/;
const CONFIG = {
  server: { store: { driver: 'lmdb' } },
  providers: [{ name: 'mock', type: 'mock', api_key: '${secret:file:./secret.txt}' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
};

/** A directory in which a gateway ran, with a backup of its store; it is stopped. */
let directory: string;
let file: string;
let content: Buffer;
const data = (...names: string[]): string => join(directory, '.gateway', ...names);

async function withSecret(path: string): Promise<string> {
  await writeFile(join(path, 'secret.txt'), 'sk-of-the-provider', { mode: 0o600 });
  return path;
}

async function ran(): Promise<void> {
  directory = await withSecret(await newDirectory());
  const gateway = await startGateway(CONFIG, { directory });
  for (let i = 0; i < 5; i++) expect((await gateway.chat('acme/echo')).status).toBe(200);
  await gateway.stop();
  file = data('store', 'data.mdb');
  content = await readFile(file);
  const backedUp = await command('store', 'backup', 'copy');
  expect(backedUp.code, backedUp.said).toBe(0);
}

/** Everything that the command wrote on stderr, and its exit code. */
async function command(...words: string[]): Promise<{ code: number; said: string }> {
  if (words[0] === 'start') return refusedStart({ cwd: directory });
  const { code, stderr } = await runCli(words, { cwd: directory });
  return { code, said: stderr };
}

const commands = {
  start: () => ['start'],
  verify: () => ['store', 'verify'],
  backup: () => ['store', 'backup', join(directory, `copy-${Math.random()}`)],
  migrate: () => ['store', 'migrate', '--from', 'gateway.yaml', '--to', `lmdb:${directory}/other`],
} as const;
type Name = keyof typeof commands;
const EVERY = Object.keys(commands) as Name[];

/** Each says the sentence and ends with 1; gives what they said. */
async function expectTold(names: readonly Name[]): Promise<string> {
  const all: string[] = [];
  for (const name of names) {
    const { code, said } = await command(...commands[name]());
    expect(said, name).toMatch(SENTENCE);
    expect(code, name).toBe(1);
    expect(said.trim().split('\n').length, said).toBeLessThan(3);
    all.push(said);
  }
  return all.join('\n');
}

describe('a damaged store', () => {
  beforeAll(async () => {
    await ran();
    return () => rm(directory, { recursive: true, force: true });
  }, 60_000);

  it.each<{ what: string; sizeOf: (whole: number) => number; by: readonly Name[] }>([
    { what: 'half', sizeOf: (whole: number) => Math.floor(whole / 2), by: EVERY },
    { what: 'all but the last page', sizeOf: (whole: number) => whole - 4_096, by: ['start'] },
    { what: '100 bytes', sizeOf: () => 100, by: ['verify'] },
  ])(
    verifies('store.damage.truncated', 'of which $what is left is told by $by'),
    async ({ sizeOf, by }) => {
      await truncate(file, sizeOf(content.length));
      onTestFinished(() => writeFile(file, content));
      await expectTold(by);
    },
  );

  it(
    verifies('store.damage.truncated', 'of which half is left ends a process, and by no signal'),
    async () => {
      await truncate(file, Math.floor(content.length / 2));
      onTestFinished(() => writeFile(file, content));
      const { code, said } = await runGateway(['start'], { cwd: directory });
      expect(said).toMatch(SENTENCE);
      expect(code).toBe(1);
    },
  );

  it(
    verifies('store.damage.flipped-bytes', 'whose rows are no JSON any more shows none of them'),
    async () => {
      const flipped = Buffer.from(content);
      for (let at = flipped.indexOf('{"'); at >= 0; at = flipped.indexOf('{"', at + 1))
        flipped[at + 1] = 0x7b;
      await writeFile(file, flipped);
      onTestFinished(() => writeFile(file, content));
      expect(await expectTold(EVERY)).not.toMatch(/SyntaxError|Unexpected|\{\{|sk-of/);
    },
  );

  it(
    verifies('store.damage.flipped-bytes', 'whose sealed values do not open is told as such'),
    async () => {
      const flipped = Buffer.from(content);
      for (let at = flipped.indexOf('"v1.'); at >= 0; at = flipped.indexOf('"v1.', at + 1)) {
        const dot = flipped.indexOf('.', at + 4);
        flipped[dot + 30] = flipped[dot + 30] === 0x41 ? 0x42 : 0x41;
      }
      await writeFile(file, flipped);
      onTestFinished(() => writeFile(file, content));
      await expectTold(['start']);
    },
  );

  it.each<{ how: string; others: readonly Name[] }>([
    { how: 'missing', others: ['verify', 'migrate'] },
    { how: 'empty', others: ['backup'] },
  ])(
    verifies('store.damage.empty-beside-key', 'that is $how beside an admin key starts no new one'),
    async ({ how, others }) => {
      await rm(file);
      if (how === 'empty') await writeFile(file, '');
      onTestFinished(() => writeFile(file, content));
      const admin = await readFile(data('admin.key'), 'utf8');
      const before = await readdir(data());
      expect(await expectTold(['start'])).toContain(data('admin.key'));
      expect(await readdir(data())).toEqual(before);
      expect(await readFile(data('admin.key'), 'utf8')).toBe(admin);
      expect((await stat(file).catch(() => ({ size: 0 }))).size).toBe(0);
      for (const name of others) expect((await command(...commands[name]())).code).toBe(1);
    },
  );

  it('is whole again once a backup is restored, whatever had become of it', async () => {
    await rm(file);
    expect((await command('store', 'restore', 'copy')).code).toBe(0);
    const gateway = await startGateway(CONFIG, { directory });
    onTestFinished(async () => void (await gateway.stop()));
    expect((await gateway.admin('GET', '/admin/v1/keys')).status).toBe(200);
    await gateway.stop();
    content = await readFile(file);
  });
});

describe('a first start', () => {
  it('that ended after the keys were made goes on', async () => {
    directory = await withSecret(await directoryOfTest());
    const first = await startGateway(CONFIG, { directory });
    await first.stop();
    // As one that ended behind the master key, before there was a store.
    for (const name of ['store', 'admin.key']) await rm(data(name), { recursive: true });
    const second = await startGateway(CONFIG, { directory });
    expect((await second.admin('GET', '/admin/v1/keys')).status).toBe(200);
    await second.stop();
  });

  it(
    verifies('store.damage.empty-beside-key', 'is refused on a journal that lost its rows'),
    async () => {
      const here = await withSecret(await directoryOfTest());
      directory = here;
      const config = { ...CONFIG, server: { store: { driver: 'fs', path: './rows' } } };
      const gateway = await startGateway(config, { directory: here });
      await gateway.stop();
      await rm(join(here, 'rows'), { recursive: true });
      await expectTold(['start']);
    },
  );
});
