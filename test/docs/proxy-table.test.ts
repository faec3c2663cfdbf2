import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { verifies } from '../requirements.ts';

const PAGE = new URL('../../docs/measured.md', import.meta.url);

/** Words of the figures that must be present, one row each. */
const FIGURES = [
  /^CPU of 1 KB over 64 connections/,
  /spending limit and a rate ÷ without/,
  /32 KB/,
  /one connection, p50/,
  /one connection, p99/,
  /burst/,
  /paced streams, with limits/,
  /translated stream/,
  /memory, idle and/,
  /Redis, PostgreSQL/,
  /two workers/,
];

it(
  verifies(
    'ops.performance.proxy-table',
    'measured.md has each figure with its goal, what holds the rest, and what was tried',
  ),
  () => {
    const page = readFileSync(PAGE, 'utf8');
    const [, section = ''] = page.split('## Compared with a minimal proxy');
    const [part = ''] = section.split('\n## ');
    const rows = part
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    for (const figure of FIGURES) {
      const found = rows.filter(([, name = '']) => figure.test(name));
      expect(found, String(figure)).toHaveLength(1);
      for (const [, , goal, measured] of found)
        expect([goal, measured], String(figure)).toEqual(
          Array(2).fill(expect.stringMatching(/\d/)),
        );
    }
    expect(part).toMatch(/holds the rest/);
    expect(part).toMatch(/did not help:/);
  },
);
