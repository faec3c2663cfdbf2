import { parseKeepingDigits } from '../../../core/json/digits.ts';
import { decodeKey, encodeKey } from '../../key-codec.ts';
import { toId } from '../../prepare-commit.ts';
import type { Key } from '../../store.ts';
import type { Row } from '../../table.ts';
import { fromEnvelope, hasDigits, toEnvelope } from '../../value-codec.ts';

/** A row as one line of JSON; it contains the value's own JSON text unchanged. */
export function toLine(id: string, row: Row | undefined): string {
  const key = JSON.stringify(decodeKey(Buffer.from(id, 'latin1')));
  if (!row) return `["d",${key}]`;
  const stamp = `${row.version},${row.expiresAt === Infinity ? 0 : row.expiresAt}`;
  const value = fromEnvelope(row.envelope);
  const kind = hasDigits(row.envelope) ? 'n' : 'j';
  return value instanceof Uint8Array
    ? `["b",${key},${stamp},"${Buffer.from(value).toString('base64')}"]`
    : `["${kind}",${key},${stamp},${row.envelope.toString('utf8', 1)}]`;
}

/** The line of {@link toLine} read back. The checksum around it vouches for its form. */
export function fromLine(line: string): [id: string, row: Row | undefined] {
  const parts = line.startsWith('["n"') ? parseKeepingDigits(line) : (JSON.parse(line) as unknown);
  const [kind, key, version, expiresAt, value] = parts as [string, Key, number, number, unknown];
  const id = toId(encodeKey(key));
  if (kind === 'd') return [id, undefined];
  const envelope = toEnvelope(kind === 'b' ? Buffer.from(String(value), 'base64') : value);
  return [id, { envelope, version, expiresAt: expiresAt || Infinity }];
}
