import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { CommandContext } from '../../src/cli/context.ts';
import { toStorePlace } from '../../src/cli/local/store-place.ts';
import type { Backend } from '../../src/store/backend.ts';
import { BACKENDS } from '../../src/store/backends/registry.ts';
import { openStore } from '../../src/store/open-store.ts';
import { migrateStore } from '../../src/store/raw/migrate-store.ts';
import { openRaw } from '../../src/store/raw/open-raw.ts';
import { verifyStore } from '../../src/store/raw/verify-store.ts';
import type { StoreConfig } from '../../src/store/store-config.ts';
import { storeConformance, type StoreSite } from '../conformance/store.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { shelfBackend } from './support/shelf-backend.ts';
import { storePlaces } from './support/store-places.ts';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const FOLDERS = join(SRC, 'store/backends');
const PACKAGE = fileURLToPath(new URL('../../package.json', import.meta.url));
const clock = createFakeClock();
const places = storePlaces();

const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

describe('a backend that is added', () => {
  let sites = 0;
  const backends: readonly Backend[] = [...BACKENDS, shelfBackend()];

  storeConformance('a made-up backend', async (siteClock) => {
    const config = { driver: 'shelf', path: `site ${++sites}` };
    const open = () => openStore(config, { clock: siteClock }, backends);
    const site: StoreSite = {
      store: await open(),
      async reopen() {
        await site.store.close();
        return (site.store = await open());
      },
    };
    return site;
  });

  const copy = (from: StoreConfig, to: StoreConfig) =>
    migrateStore({
      from,
      to,
      clock,
      leases: ['lease'],
      backends,
      signal: new AbortController().signal,
      onRows: () => undefined,
      onCopied: () => undefined,
    });

  it.each(places.drivers)(
    verifies('extend.backend', 'by its declaration alone is copied from %s and back'),
    async (driver) => {
      const from = await places.fresh(driver);
      const shelf = { driver: 'shelf', path: `copy of ${driver}` };
      const back = await places.fresh(driver);
      const store = await openStore(from, { clock }, backends);
      for (let n = 0; n < 20; n++)
        await store.commit([{ type: 'put', key: ['row', n], value: { n }, ttlMs: 60_000 + n }]);
      await store.close();
      const there = await copy(from, shelf);
      expect(there.rows).toBe(20);
      const raw = await openRaw(shelf, { clock, isHeld: false }, backends);
      const walk = { signal: new AbortController().signal, onRows: () => undefined };
      expect(await verifyStore(raw, walk)).toMatchObject({ rows: 20, problems: [] });
      expect(await copy(shelf, back)).toEqual(there);
      const opened = await openStore(back, { clock }, backends);
      expect((await opened.get(['row', 7]))?.value).toEqual({ n: 7 });
      await opened.close();
    },
  );

  it('is not the target of its own copy', async () => {
    const shelf = { driver: 'shelf', path: 'itself' };
    await expect(copy(shelf, { ...shelf })).rejects.toMatchObject({ code: 'locked' });
  });

  it('is named by commands, and where a driver or a store is unknown', async () => {
    const context = { io: { cwd: '/srv' } } as CommandContext;
    expect(await toStorePlace('shelf:rows', context, backends)).toMatchObject({
      config: { driver: 'shelf', path: '/srv/rows' },
      setting: '{ driver: shelf, path: "/srv/rows" }',
    });
    await expect(toStorePlace('nothing', context, backends)).rejects.toMatchObject({
      hint: expect.stringContaining('fs:PATH, shelf:PATH, or a gateway.yaml'),
    });
    await expect(openStore({ driver: 'shelve' }, { clock }, backends)).rejects.toMatchObject({
      message: expect.stringMatching(/did you mean shelf\? known are lmdb, .*memory, shelf, .*fs/),
    });
  });

  it('is refused by its name where a package of it is not installed', async () => {
    const missing: string = 'a-package-that-is-not-there';
    const broken: Backend = {
      ...shelfBackend(),
      drivers: ['far'],
      packages: [missing],
      open: () => import(missing),
    };
    await expect(openStore({ driver: 'far' }, { clock }, [broken])).rejects.toMatchObject({
      code: 'unavailable',
      message:
        'the far store needs the package a-package-that-is-not-there, which is not installed',
    });
  });
});

describe('every backend', () => {
  const names = readdirSync(FOLDERS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  it('is a folder with a declaration, and is listed once', () => {
    const registry = readFileSync(join(FOLDERS, 'registry.ts'), 'utf8');
    const listed = [...registry.matchAll(/from '\.\/([\w-]+)\/backend\.ts'/g)].map(
      ([, name]) => name,
    );
    expect(new Set(listed)).toEqual(new Set(names));
    expect(BACKENDS.length).toBe(names.length);
    const drivers = BACKENDS.flatMap((backend) => backend.drivers);
    expect(new Set(drivers).size).toBe(drivers.length);
  });

  it.each(names)(
    '%s declares the packages that its files load, and the package has them',
    async (name) => {
      const definitions = Object.values(
        (await import(join(FOLDERS, name, 'backend.ts'))) as Record<string, Backend>,
      );
      const loaded = sourcesIn(join(FOLDERS, name))
        .flatMap((file) => [
          ...readFileSync(join(FOLDERS, name, file), 'utf8').matchAll(
            /(?:from |import\()'([^.'][^']*)'/g,
          ),
        ])
        .map(([, specifier = '']) => specifier.replace(/^node:/, ''))
        .filter((specifier) => !builtinModules.includes(specifier) && specifier !== 'zod');
      const [definition] = definitions;
      expect([...new Set(loaded)].toSorted()).toEqual([...(definition?.packages ?? [])].toSorted());
      const { dependencies } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
      for (const one of loaded) expect(dependencies).toHaveProperty(one);
    },
  );

  it.each([...places.drivers, 'memory'])(
    'of %s opens stores of the declared scope',
    async (driver) => {
      const config = driver === 'memory' ? { driver } : await places.fresh(driver);
      const store = await openStore(config, { clock });
      const backend = BACKENDS.find(({ drivers }) => drivers.includes(driver)) ?? BACKENDS.at(-1);
      expect(store).toMatchObject({ driver, scope: backend?.scope });
      await store.close();
    },
  );

  it('is known by its name in its own folder alone', () => {
    const drivers = BACKENDS.flatMap(({ drivers, place }) =>
      place.kind === 'memory' ? [] : drivers,
    );
    const literal = new RegExp(`['"\`](?:${drivers.join('|')})['"\`]`);
    const knowing = sourcesIn(SRC)
      .filter((file) => !file.startsWith('store/backends/'))
      .filter((file) =>
        literal.test(readFileSync(join(SRC, file), 'utf8').replace(/\/\*\*?[^]*?\*\//g, '')),
      );
    expect(knowing).toEqual([]);
  });
});
