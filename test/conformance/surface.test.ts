import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { testSurface } from './surface.ts';
import type { SurfaceRow } from './surface.ts';

const FAMILIES = new URL('./families/', import.meta.url);
const files = readdirSync(fileURLToPath(FAMILIES)).filter((name) => name !== 'shared.ts');

for (const file of files.sort()) {
  const { row } = (await import(new URL(file, FAMILIES).href)) as { row: SurfaceRow };
  testSurface(row);
}
