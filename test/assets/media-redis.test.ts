import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { fromBytes } from '../../src/core/memory/spooled-body.ts';
import { openMediaMount } from '../../src/assets/media-mount.ts';
import { findProgram } from '../store/support/database-server.ts';
import { shareDatabase } from '../support/servers/share-database.ts';

const program = findProgram('redis-server');

it.skipIf(program === undefined)('keeps media byte for byte in a real Redis', async () => {
  const { url } = await shareDatabase('redis');
  const options = { url, base: 'media' };
  const mount = await openMediaMount({ driver: 'redis', options }, systemClock);
  onTestFinished(() => mount.close());
  const content = randomBytes(5_000_000);
  const read = async (start?: number, end?: number): Promise<Buffer> => {
    const pieces: Buffer[] = [];
    for await (const piece of mount.read('media_1', content.length).open(start, end))
      pieces.push(piece);
    return Buffer.concat(pieces);
  };
  await mount.write('media_1', fromBytes(content));
  expect((await read()).equals(content)).toBe(true);
  expect((await read(4_194_000, 4_200_000)).equals(content.subarray(4_194_000, 4_200_000))).toBe(
    true,
  );
  await mount.remove('media_1', content.length);
  await expect(read()).rejects.toThrow('media_1');
});
