import { Buffer } from 'node:buffer';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

/** The ways in which a secret could stand in bytes. */
function spellingsOf(secret: string): string[] {
  const encoded = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]).toString('base64');
    // The ends depend on what stands beside it.
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
  return [secret, Buffer.from(secret).toString('hex'), ...encoded];
}

/** No secret stands in the bytes, in any spelling; the failure shows what is around it, not itself. */
export function expectNowhere(
  bytes: string,
  secrets: Readonly<Record<string, string>>,
  where: string,
) {
  for (const [name, secret] of Object.entries(secrets)) {
    for (const spelling of spellingsOf(secret)) {
      const at = bytes.indexOf(spelling);
      const around = bytes.slice(Math.max(0, at - 200), at + 80).replace(spelling, '…');
      expect(at, `${name} is in ${where}: ${around}`).toBe(-1);
    }
  }
}

/** Every file below a directory, as latin1. */
export async function bytesBelow(directory: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    found.set(path, await readFile(path, 'latin1'));
  }
  return found;
}
