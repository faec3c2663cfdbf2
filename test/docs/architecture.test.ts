import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { overview } from './drawings/overview.ts';
import { drawRooms, readRooms } from './drawings/rooms.ts';
import { ROOT } from './reader.ts';

const page = await readFile(join(ROOT, 'docs/architecture.md'), 'utf8');

describe('docs/architecture.md', () => {
  it('shows the rooms as they import each other; `-u` draws them again', async () => {
    await expect(drawRooms()).toMatchFileSnapshot(join(ROOT, 'docs/images/rooms.svg'));
  });

  it('says what each room does, and of no other', () => {
    const [, table = ''] = /^## Rooms\n([\s\S]*?)^## /m.exec(page) ?? [];
    const named = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(readRooms().keys()));
  });

  it('names files and functions that exist', async () => {
    const steps = [...page.matchAll(/`(src\/[\w./-]+\.ts)`(?: \(`([\w.]+)`\))?/g)];
    expect(steps.length).toBeGreaterThan(20);
    for (const [, path = '', name] of steps) {
      const source = await readFile(join(ROOT, path), 'utf8');
      if (name !== undefined) expect(source, path).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });
});

describe('README.md', () => {
  it('has the picture that is drawn; `-u` draws it again', async () => {
    await expect(overview()).toMatchFileSnapshot(join(ROOT, 'docs/images/overview.svg'));
  });
});
