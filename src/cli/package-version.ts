import { readFileSync } from 'node:fs';
import { packageFile } from '../core/package-root.ts';

/** Version in package.json. */
export function packageVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  const manifest: unknown = JSON.parse(text);
  const known = manifest !== null && typeof manifest === 'object' && 'version' in manifest;
  return known && typeof manifest.version === 'string' ? manifest.version : 'unknown';
}
