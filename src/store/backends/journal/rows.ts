import { decodeKey, encodeKey } from '../../key-codec.ts';
import { toId } from '../../prepare-commit.ts';
import type { Key } from '../../store.ts';
import type { Row } from '../../table.ts';
import { fromEnvelope, toEnvelope } from '../../value-codec.ts';

/** A row as one line of JSON; it contains the value's own JSON text unchanged. */
export function toLine(id: string, row: Row | undefined): string {
  const key = JSON.stringify(decodeKey(Buffer.from(id, 'latin1')));
  if (!row) return `["d",${key}]`;
  const stamp = `${row.version},${row.expiresAt === Infinity ? 0 : row.expiresAt}`;
  const value = fromEnvelope(row.envelope);
  return value instanceof Uint8Array
    ? `["b",${key},${stamp},"${Buffer.from(value).toString('base64')}"]`
    : `["j",${key},${stamp},${row.envelope.toString('utf8', 1)}]`;
}

/** The line of {@link toLine} read back. The checksum around it vouches for its form. */
export function fromLine(line: string): [id: string, row: Row | undefined] {
  const parts: [string, Key, number, number, unknown] = JSON.parse(line);
  const [kind, key, version, expiresAt, value] = parts;
  const id = toId(encodeKey(key));
  if (kind === 'd') return [id, undefined];
  const envelope = toEnvelope(kind === 'b' ? Buffer.from(String(value), 'base64') : value);
  return [id, { envelope, version, expiresAt: expiresAt || Infinity }];
}
