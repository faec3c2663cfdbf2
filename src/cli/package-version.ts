import { readFileSync } from 'node:fs';

/** The version in package.json, two folders above both the source and the built file. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const manifest: unknown = JSON.parse(text);
  const known = manifest !== null && typeof manifest === 'object' && 'version' in manifest;
  return known && typeof manifest.version === 'string' ? manifest.version : 'unknown';
}
