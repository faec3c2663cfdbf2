import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLmdbStore } from '../../src/store/backends/lmdb/open-lmdb-store.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { bundleScript } from '../support/process/bundle-script.ts';

const SCRIPT = fileURLToPath(new URL('support/fill-disk.ts', import.meta.url));

describe('lmdb store on a full disk', () => {
  it(
    verifies('store.disk-full', 'refuses writes, keeps reading, lives on and recovers with space'),
    async () => {
      const path = await temporaryDirectory();
      // Within a page, so that each write at the limit is cut short as on a disk that fills up.
      const limited = 'ulimit -S -f 2049; exec "$0" "$@"';
      const command = [process.execPath, await bundleScript(SCRIPT), path];
      const { stdout } = await promisify(execFile)('bash', ['-c', limited, ...command]);
      const result = JSON.parse(/RESULT (.*)/.exec(stdout)?.[1] ?? '{}');
      expect(result.written).toBeGreaterThan(5);
      expect(result.written).toBeLessThan(21);
      expect(['full', 'unavailable']).toContain(result.refusal);
      for (const code of [...result.together, result.guarded]) {
        expect(['full', 'unavailable']).toContain(code);
      }
      expect(result.readable).toBe(result.written);
      expect(result.recovered).toBe('ok');
    },
  );

  it(verifies('store.disk-full', 'leaves the last bytes of the disk alone'), async () => {
    let freeBytes = 2 ** 40;
    const overrides = { freeBytes: () => freeBytes };
    const path = await temporaryDirectory();
    const clock = createFakeClock();
    const store = await openLmdbStore(path, clock, overrides);
    onTestFinished(() => store.close());
    const put = (value: unknown) => store.commit([{ type: 'put', key: ['k'], value }]);
    await put('before');
    freeBytes = 60 * 1024 * 1024;
    clock.advance(100);
    const full = { name: 'StoreError', code: 'full', message: expect.stringMatching(/60 MiB/) };
    await expect(put('during')).rejects.toMatchObject(full);
    await expect(store.increment(['n'], 1)).rejects.toMatchObject(full);
    await expect(store.ping()).rejects.toMatchObject(full);
    expect((await store.get(['k']))?.value).toBe('before');
    freeBytes = 70 * 1024 * 1024;
    await expect(put(new Uint8Array(10_000_000))).rejects.toMatchObject({ code: 'full' });
    expect(await put('after')).toMatchObject({ ok: true });
    expect(await store.increment(['n'], 1)).toBe(1);
    await store.ping();
  });
});
