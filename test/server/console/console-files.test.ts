import { gunzipSync } from 'node:zlib';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { openConsoleFiles } from '../../../src/server/console/console-files.ts';
import { verifies } from '../../requirements.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const SCRIPT = `console.log('${'a'.repeat(2_000)}')`;

async function open(files: Record<string, string | Buffer>) {
  const folder = await directoryOfTest();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const opened = await openConsoleFiles(folder);
  return (path: string, headers = {}) => opened.answer(path, headers);
}

it('answers a path without a file with the index, which is asked for again each time', async () => {
  const answer = await open({ 'index.html': '<p>page', 'assets/a-12.js': SCRIPT });
  for (const path of ['', '/', '/requests', '/requests/req_1', '/../secret', '/%2e%2e/x', '/%'])
    expect(await answer(path), path).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
      body: Buffer.from('<p>page'),
    });
});

it('lets browsers keep what has its hash in its name', async () => {
  const answer = await open({
    'index.html': '<p>page',
    'assets/a-12.js': SCRIPT,
    'icon.svg': '<svg/>',
  });
  const { headers } = await answer('/assets/a-12.js');
  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  expect((await answer('/icon.svg')).headers).toMatchObject({
    'content-type': 'image/svg+xml',
    'cache-control': 'no-cache',
  });
  const known = await answer('/assets/a-12.js', { 'if-none-match': `"x", W/${headers?.['etag']}` });
  expect(known).toMatchObject({ status: 304 });
  expect(known.body).toBeUndefined();
  await expect(answer('/assets/gone-34.js')).rejects.toMatchObject({ code: 'not_found' });
});

it('sends less where the browser takes it', async () => {
  const answer = await open({ 'a.js': SCRIPT, 'c.js': 'short' });
  const all = { 'accept-encoding': 'gzip, deflate, br' };
  const coded = await answer('/a.js', all);
  expect(coded.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(gunzipSync(coded.body as Buffer).toString()).toBe(SCRIPT);
  for (const [path, headers] of [
    ['/a.js', {}],
    ['/a.js', { 'accept-encoding': 'gzip;q=0' }],
    ['/c.js', all],
  ] as const)
    expect((await answer(path, headers)).headers).not.toHaveProperty('content-encoding');
  expect((await answer('/a.js')).headers?.['etag']).not.toBe(coded.headers?.['etag']);
});

it(
  verifies('console.csp', 'allows pages nothing but files and calls of the gateway itself'),
  async () => {
    const answer = await open({ 'index.html': '<p>page', 'assets/a-12.js': SCRIPT });
    for (const path of ['', '/assets/a-12.js']) {
      const { headers = {} } = await answer(path);
      const policy = Object.fromEntries(
        (headers['content-security-policy'] ?? '').split('; ').map((part) => {
          const [name, ...sources] = part.split(' ');
          return [name, sources.join(' ')];
        }),
      );
      expect(policy).toMatchObject({
        'default-src': "'self'",
        'script-src': "'self'",
        'style-src': "'self'",
        'connect-src': "'self'",
        'frame-ancestors': "'none'",
        'base-uri': "'none'",
        'object-src': "'none'",
      });
      expect(new Set(Object.values(policy))).toEqual(new Set(["'self'", "'none'"]));
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
      });
    }
  },
);

it('says how to get pages that were not built', async () => {
  const files = await openConsoleFiles('/nowhere/at/all');
  await expect(files.answer('', {})).rejects.toThrow('npm run build');
});
