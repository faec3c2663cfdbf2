import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adminKeyPlace } from '../../../src/server/process/admin-key-place.ts';
import { verifies } from '../../requirements.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

it(
  verifies('start.banner', 'the admin key is where its file is, and found where commands look'),
  async () => {
    const cwd = await directoryOfTest();
    const place = (dataDir: string, ...files: string[]) =>
      adminKeyPlace({ server: { dataDir: join(cwd, dataDir) } as never, files }, cwd);
    await mkdir(join(cwd, '.gateway'));
    expect(place('.gateway', 'gateway.yaml')).toMatchObject({
      isKept: false,
      recovery: '`gateway store admin-key`',
    });
    await writeFile(join(cwd, '.gateway', 'admin.key'), 'k');
    expect(place('.gateway', 'stdin')).toMatchObject({ isKept: true, isFound: true });
    expect(place('.gateway', 'pg.yaml')).toMatchObject({ isKept: true, isFound: true });
    expect(place('data', './gateway.yaml')).toMatchObject({ isKept: false, isFound: true });
    expect(place('data', 'a b.yaml')).toMatchObject({
      isFound: false,
      recovery: "`gateway store admin-key -c 'a b.yaml'`",
    });
    expect(place('below/.gateway', 'below/gateway.yaml')).toMatchObject({ isFound: false });
    expect(place('../.gateway', '../gateway.yaml')).toMatchObject({ isFound: true });
  },
);
