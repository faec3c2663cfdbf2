import { Buffer } from 'node:buffer';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { createSigner } from '../../src/core/seal.ts';
import { createSpools } from '../../src/core/memory/spool.ts';
import { createGatewayRegistrar } from '../../src/assets/gateway-registrar.ts';
import { createMediaLinks } from '../../src/assets/media-links.ts';
import { openMediaMount } from '../../src/assets/media-mount.ts';
import type { Registrar } from '../../src/assets/registrar.ts';
import { createUrlGuard } from '../../src/upstream/guard/url-guard.ts';
import { verifies } from '../requirements.ts';
import { PNG, startMediaStudio } from '../support/stage/media-studio.ts';
import type { MediaStudio } from '../support/stage/media-studio.ts';

let studio: MediaStudio;
let directory: string;

beforeAll(async () => {
  studio = await startMediaStudio();
  directory = await mkdtemp(join(tmpdir(), 'assets-'));
});
afterAll(async () => {
  await studio.close();
  await rm(directory, { recursive: true, force: true });
});

/** A registrar whose resolver gives these answers in turn. */
async function registrarWith(
  answers: string[][],
  { allow = [] as string[], driver = 'memory', options = {} } = {},
): Promise<{ registrar: Registrar; asked: () => number }> {
  let asked = 0;
  const lookup = async (): Promise<string[]> => answers[asked++] ?? answers.at(-1) ?? [];
  const ids = createIdSource(systemClock);
  const signer = createSigner([Buffer.alloc(32, 1)], 'media link');
  const registrar = createGatewayRegistrar({
    guard: createUrlGuard({ lookup, allow }),
    spools: createSpools(join(directory, 'spool'), ids),
    ids,
    mount: await openMediaMount({ driver, path: join(directory, 'media'), options }, systemClock),
    links: createMediaLinks({ signer, clock: systemClock, lifetimeMs: 1_000 }),
    maxBytes: 1024 * 1024,
    timeoutMs: 60_000,
  });
  return { registrar, asked: () => asked };
}

const asking = (url: string, signal = new AbortController().signal) =>
  ({ url, type: 'Image', name: null, organization: 'org_1', signal }) as const;

it(
  verifies(
    'assets.create.url-guard',
    'ops.ssrf.guard',
    'connects to no private address that a name gets between check and connection',
  ),
  async () => {
    const { port } = new URL(studio.url);
    const { registrar, asked } = await registrarWith([['93.184.216.34'], ['127.0.0.1']]);
    const seen = studio.seen.length;
    const url = `http://media.example:${port}/photo.png`;
    await expect(registrar.register(asking(url))).rejects.toMatchObject({
      code: 'invalid_request',
      status: 400,
      param: 'url',
    });
    expect(asked()).toBe(2);
    expect(studio.seen.length).toBe(seen);
  },
);

it('keeps what it fetched as files below the data folder, and forgets them', async () => {
  const allow = [new URL(studio.url).host];
  const { registrar } = await registrarWith([['127.0.0.1']], { allow, driver: 'fs' });
  const { externalId, holder } = await registrar.register(asking(`${studio.url}/photo.png`));
  const list = (): Promise<string[]> => readdir(join(directory, 'media'), { recursive: true });
  expect(await list()).toContain(`media/${externalId}/0`);
  expect((await stat(join(directory, 'media'))).mode & 0o777).toBe(0o700);
  expect(holder).toMatchObject({ by: 'gateway', mediaType: 'image/png', size: PNG.length });
  await registrar.forget(externalId, holder);
  expect(await list()).not.toContain(`media/${externalId}/0`);
});

it('stops to fetch when the client leaves', async () => {
  const allow = [new URL(studio.url).host];
  const { registrar } = await registrarWith([['127.0.0.1']], { allow });
  const leaving = new AbortController();
  const seen = studio.seen.length;
  const registered = registrar.register(asking(`${studio.url}/never`, leaving.signal));
  const refused = expect(registered).rejects.toMatchObject({ code: 'media_failed' });
  await expect.poll(() => studio.seen.length, { timeout: 60_000 }).toBe(seen + 1);
  leaving.abort();
  await refused;
  await expect.poll(() => studio.seen[seen]?.aborted, { timeout: 60_000 }).toBe(true);
});
