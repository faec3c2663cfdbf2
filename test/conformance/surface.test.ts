import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { testSurfaces } from './surface.ts';
import type { SurfaceRow } from './surface.ts';

const FAMILIES = new URL('./families/', import.meta.url);
const files = readdirSync(fileURLToPath(FAMILIES)).filter((name) => name !== 'shared.ts');

const rows = await Promise.all(
  files.sort().map(async (file) => {
    const { row } = (await import(new URL(file, FAMILIES).href)) as { row: SurfaceRow };
    return row;
  }),
);

testSurfaces(rows);
