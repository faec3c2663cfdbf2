import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callsIn, unknownText } from '../../scripts/unknown.ts';
import { RESOURCES } from '../../src/resources/registry.ts';

import { startGateway, type TestGateway } from '../support/gateway.ts';
import { verifies } from '../requirements.ts';
import { ROOT } from './reader.ts';
import { withGenerated } from './table.ts';
import { SURFACES } from '../server/surfaces.ts';

const page = await readFile(join(ROOT, 'docs/endpoints.md'), 'utf8');

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway('version: 1\n');
});
afterAll(() => gateway.stop());

/** Paths in a column of the table, from 1. */
function paths(column: number): string[] {
  const rows = page
    .split('\n')
    .filter((line) => /^\| [^-]/.test(line))
    .slice(1);
  return rows.flatMap((row) =>
    [...(row.split('|')[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
  );
}

async function isServed(path: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${gateway.adminKey}` };
  const answer = await fetch(gateway.url + path, { headers });
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    // Events have no end.
    await answer.body?.cancel();
    return true;
  }
  return !(await answer.text()).includes('no such path; ');
}

describe('docs/endpoints.md', () => {
  it('says truly what is served and what is not', async () => {
    const served = paths(1);
    for (const path of served) expect(await isServed(path), path).toBe(true);
    for (const path of paths(2)) expect(await isServed(path), path).toBe(false);
  });

  it(
    verifies(
      'clients.unknown',
      'lists what the official clients have and the gateway has not; `-u` writes it again',
    ),
    async () => {
      const { body } = await gateway.call('GET', '/openapi.json');
      const text = unknownText(callsIn(body));
      expect(text).toContain('`/v1/vector_stores` (');
      expect(text).not.toContain('/v1/messages`');
      const file = join(ROOT, 'docs/endpoints.md');
      await expect(withGenerated(page, 'unknown', text)).toMatchFileSnapshot(file);
    },
  );

  it('has the paths of every surface and every kind', () => {
    expect(paths(1)).toEqual(
      expect.arrayContaining([
        ...SURFACES.map(({ paths: [path = ''] }) =>
          path.replace('/**', '/{model}:generateContent').replace(':id', '{id}'),
        ),
        ...RESOURCES.flatMap(({ path, api }) => (api ? [path, api.path] : [path])),
      ]),
    );
  });
});
