import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromZip, toZip } from '../../../src/resources/skills/zip.ts';
import { unzip } from '../../support/unzip.ts';

const AT = new Date('2026-11-21T10:20:30Z');

describe('fromZip', () => {
  it('refuses what is no archive, or a damaged one, and nothing else happens', () => {
    const archive = toZip([{ path: 'a/b', bytes: Buffer.from('hello') }], AT);
    const refused = (bytes: Buffer): boolean => {
      try {
        fromZip(bytes);
        return false;
      } catch (error) {
        return error instanceof Error && error.message === 'the archive is damaged';
      }
    };
    expect(refused(Buffer.alloc(0))).toBe(true);
    for (let size = 0; size < archive.length; size++)
      expect(refused(archive.subarray(0, size)), String(size)).toBe(true);
    const place = fc.nat(archive.length - 1);
    fc.assert(
      fc.property(place, fc.integer({ min: 1, max: 255 }), (at, change) => {
        const other = Buffer.from(archive);
        other.writeUInt8(other.readUInt8(at) ^ change, at);
        const isRead = (() => {
          try {
            return fromZip(other).every(({ bytes }) => bytes.toString() === 'hello');
          } catch (error) {
            return (error as Error).message === 'the archive is damaged';
          }
        })();
        expect(isRead).toBe(true);
      }),
    );
  });
});

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
        expect(fromZip(toZip(entries, AT))).toEqual(entries);
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
