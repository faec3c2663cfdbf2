import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { installProduct } from './support/installed.ts';
import { packProduct, ROOT } from './support/packed.ts';
import type { Packed } from './support/packed.ts';

interface LockEntry {
  version: string;
  integrity?: string;
  resolved?: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
  dependencies?: Record<string, string>;
}
interface Lock {
  packages: Record<string, LockEntry>;
}

/** What may be in the package, and nothing else. */
const CONTENT = [
  /^bin\/(gateway\.js|worker-start\.cjs)$/,
  /^dist\/[\w/-]+\.(js|d\.ts)$/,
  /^docs\/[\w-]+\.(md|json|yaml)$/,
  /^docs\/images\/[\w-]+\.svg$/,
  // Of files with a dot in front npm drops some, so templates spell those with an underscore.
  /^templates\/(?!.*\/\.(?!github\/))[\w/.-]+\.(md|yaml|yml|json|js|mjs)$/,
  /^templates\/[\w-]+\/_gitignore$/,
  /^(LICENSE|README\.md|CHANGELOG\.md|gateway\.yaml\.example|package\.json|npm-shrinkwrap\.json)$/,
];
/** What nobody may publish: maps of sources that lie elsewhere, and what looks like a secret. */
const FORBIDDEN =
  /sourceMappingURL=|_authToken|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bsk-(?:ant-|proj-)?[A-Za-z0-9]{24,}|\bAKIA[A-Z0-9]{16}\b|\bghp_[A-Za-z0-9]{30,}/;
const MIB = 1024 * 1024;
const MAX_PACKED = 1.5 * MIB;
const MAX_UNPACKED = 5 * MIB;

const EXACT = /^(npm:@?[\w./-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/;
const MAX_DIRECT = 25;
const MAX_INSTALLED = 235;
const PERMISSIVE =
  /^(MIT|ISC|Apache-2\.0|BSD-2-Clause|BSD-3-Clause|0BSD|BlueOak-1\.0\.0|Unlicense|\(MIT OR CC0-1\.0\))$/;
/**
 * The packages that would run a script at install. Both only look whether the binary that comes as a
 * package of its own fits, so they work without, too: see the test of the Node.js versions.
 */
const WITH_SCRIPTS = ['node_modules/lmdb', 'node_modules/msgpackr-extract'];

const json = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, 'utf8')) as T;

let packed: Packed & { directory: string };
let shrinkwrap: Lock;
let entries: [string, LockEntry][];
beforeAll(async () => {
  packed = await packProduct();
  shrinkwrap = await json(join(packed.content, 'npm-shrinkwrap.json'));
  entries = Object.entries(shrinkwrap.packages).filter(([path]) => path !== '');
});
afterAll(() => rm(packed.directory, { recursive: true, force: true }));

describe('the packed files', () => {
  it(verifies('ops.supply-chain', 'are those that are meant to be published'), async () => {
    const found = await filesBelow(packed.content);
    expect(found.sort()).toEqual(packed.files.map(({ path }) => path).sort());
    expect(found.filter((path) => !CONTENT.some((rule) => rule.test(path)))).toEqual([]);
    for (const path of ['bin/gateway.js', 'dist/index.d.ts', 'LICENSE', 'npm-shrinkwrap.json'])
      expect(found).toContain(path);
    const executable = packed.files.filter(({ mode }) => (mode & 0o111) !== 0);
    expect(executable.map(({ path }) => path)).toEqual(['bin/gateway.js']);
  });

  it('hold every build of a source and no other', async () => {
    const sources = await filesBelow(join(ROOT, 'src'));
    const built = sources
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => [path.replace(/ts$/, 'js'), path.replace(/ts$/, 'd.ts')]);
    const dist = (await filesBelow(join(packed.content, 'dist'))).sort();
    expect(dist).toEqual(built.sort());
  });

  it('hold every template as it stands', async () => {
    const templates = (await filesBelow(join(ROOT, 'templates'))).sort();
    expect((await filesBelow(join(packed.content, 'templates'))).sort()).toEqual(templates);
  });

  it('point at no map, name no machine and show no secret', async () => {
    const wrong: string[] = [];
    for (const { path } of packed.files) {
      const text = await readFile(join(packed.content, path), 'utf8');
      const hit = FORBIDDEN.exec(text)?.[0];
      if (hit !== undefined) wrong.push(`${path}: ${hit}`);
      if (text.includes(ROOT) || text.includes(packed.directory)) wrong.push(`${path}: a folder`);
    }
    expect(wrong).toEqual([]);
  });

  it('are small', () => {
    const unpacked = packed.files.reduce((sum, { size }) => sum + size, 0);
    console.info(`package: ${mib(packed.size)} MiB packed, ${mib(unpacked)} MiB unpacked`);
    expect(packed.size).toBeLessThan(MAX_PACKED);
    expect(unpacked).toBeLessThan(MAX_UNPACKED);
  });
});

describe('the manifest', () => {
  it(verifies('ops.supply-chain', 'pins what it names, and runs nothing at install'), async () => {
    const manifest = await json<Record<string, Record<string, string>>>(
      join(packed.content, 'package.json'),
    );
    const { dependencies = {}, devDependencies = {}, scripts = {} } = manifest;
    const specs = Object.entries({ ...dependencies, ...devDependencies });
    expect(specs.filter(([, spec]) => !EXACT.test(spec))).toEqual([]);
    expect(Object.keys(dependencies).length).toBeLessThanOrEqual(MAX_DIRECT);
    const atInstall = /^(pre|post)?(install|uninstall|prepare|prepublish)$|^dependencies$/;
    expect(Object.keys(scripts).filter((name) => atInstall.test(name))).toEqual([]);
    expect(shrinkwrap.packages['']?.dependencies).toEqual(dependencies);
  });
});

describe('the shrinkwrap', () => {
  it(verifies('ops.supply-chain', 'pins the production part of the lock by hash'), async () => {
    const lock = await json<Lock>(join(ROOT, 'package-lock.json'));
    const locked = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);
    const versions = (list: typeof locked) => list.map(([path, { version }]) => [path, version]);
    // Only binaries for other machines may lack a hash, and those are left out.
    const hashed = locked.filter(([, { integrity }]) => integrity !== undefined);
    expect(locked.filter(([, one]) => !one.integrity && !one.optional)).toEqual([]);
    expect(versions(entries)).toEqual(versions(hashed));
    for (const [path, { integrity }] of entries)
      expect(integrity, path).toBe(lock.packages[path]?.integrity);
    expect(entries.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
  });

  it('names no registry, so that the one of the user is asked', () => {
    expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    expect(JSON.stringify(shrinkwrap)).not.toMatch(/https?:/);
  });

  it('lists few packages, all of a permissive licence', () => {
    const needed = entries.filter(([, { optional }]) => !optional).length;
    console.info(`package: ${needed} packages, ${entries.length - needed} optional ones besides`);
    expect(entries.length).toBeLessThanOrEqual(MAX_INSTALLED);
    const wrong = entries.filter(([, { license = 'none' }]) => !PERMISSIVE.test(license));
    expect(wrong.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
  });

  it('lists no package with an install script but the known ones', () => {
    const scripted = entries.filter(([, { hasInstallScript }]) => hasInstallScript);
    expect(scripted.map(([path]) => path)).toEqual(WITH_SCRIPTS);
  });

  it(verifies('ops.supply-chain', 'is what an installation holds, to the version'), async () => {
    const product = await installProduct(packed, join(packed.directory, 'consumer'));
    const wanted = entries.map(([path, { version }]) => [path, version] as const);
    const installed = await packagesBelow(product);
    const required = wanted.filter(([path]) => !shrinkwrap.packages[path]?.optional);
    expect(required.length).toBeGreaterThan(0);
    expect(installed).toEqual(expect.arrayContaining(required));
    expect(wanted).toEqual(expect.arrayContaining(installed));
  });
});

/** All files below a directory, relative to it. */
async function filesBelow(directory: string): Promise<string[]> {
  const found = await readdir(directory, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}

/** Path and version of every package in the `node_modules` of a directory, to any depth. */
async function packagesBelow(
  directory: string,
  below = '',
): Promise<(readonly [string, string])[]> {
  const folder = join(directory, below, 'node_modules');
  if (!(await stat(folder).catch(() => undefined))) return [];
  const found: (readonly [string, string])[] = [];
  for (const name of await readdir(folder)) {
    if (name.startsWith('.')) continue;
    const names = name.startsWith('@')
      ? (await readdir(join(folder, name))).map((inner) => `${name}/${inner}`)
      : [name];
    for (const one of names) {
      const path = [below, 'node_modules', one].filter((part) => part !== '').join('/');
      const { version } = await json<{ version: string }>(join(folder, one, 'package.json'));
      found.push([path, version], ...(await packagesBelow(directory, path)));
    }
  }
  return found;
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}
