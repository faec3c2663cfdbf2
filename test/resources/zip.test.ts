import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toZip } from '../../src/resources/zip.ts';
import { unzip } from '../support/unzip.ts';

const AT = new Date('2026-11-21T10:20:30Z');

describe('toZip', () => {
  it('keeps names and bytes of any files', () => {
    const entry = fc.record({
      path: fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
      bytes: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    });
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: ({ path }) => path }), (entries) => {
        const read = unzip(toZip(entries, AT));
        expect([...read]).toEqual(entries.map(({ path, bytes }) => [path, bytes]));
      }),
    );
  });

  it('is an archive that other programs read', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'zip-'));
    try {
      const path = join(directory, 'a.zip');
      const entries = [
        { path: 'review/SKILL.md', bytes: Buffer.from('# Read\n') },
        { path: 'review/é.txt', bytes: Buffer.alloc(0) },
      ];
      await writeFile(path, toZip(entries, AT));
      const script =
        'import json,sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; ' +
        'print(json.dumps([[i.filename,i.date_time,z.read(i).decode()] for i in z.infolist()]))';
      const python = await promisify(execFile)('python3', ['-c', script, path]).catch(() => null);
      // Where there is no Python the property above has to do.
      if (!python) return;
      expect(JSON.parse(python.stdout)).toEqual([
        ['review/SKILL.md', [2026, 11, 21, 10, 20, 30], '# Read\n'],
        ['review/é.txt', [2026, 11, 21, 10, 20, 30], ''],
      ]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
