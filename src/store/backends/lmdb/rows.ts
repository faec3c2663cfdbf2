/** Row that the data table holds under a key. */
export interface StoredRow {
  readonly envelope: Buffer;
  readonly version: number;
  /** Milliseconds since epoch; infinity for what stays. */
  readonly expiresAt: number;
}

const EXPIRING = 't'.charCodeAt(0);
const HEADER_SIZE = 9;

/** The envelope itself, after a header with the instant if the row expires. */
export function toRowBytes(envelope: Buffer, expiresAt: number): Buffer {
  if (expiresAt === Infinity) return envelope;
  const header = Buffer.allocUnsafe(HEADER_SIZE);
  header[0] = EXPIRING;
  header.writeDoubleBE(expiresAt, 1);
  return Buffer.concat([header, envelope]);
}

export function fromRowBytes(bytes: Uint8Array, version: number): StoredRow {
  const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (row[0] !== EXPIRING) return { envelope: row, version, expiresAt: Infinity };
  return { envelope: row.subarray(HEADER_SIZE), version, expiresAt: row.readDoubleBE(1) };
}

/** Keys of the expiry table sort by instant, so the due ones come first. */
export function toExpiryKey(expiresAt: number, key: Buffer): Buffer {
  const instant = Buffer.allocUnsafe(8);
  // Positive doubles sort by their bytes.
  instant.writeDoubleBE(expiresAt);
  return Buffer.concat([instant, key]);
}

export function fromExpiryKey(bytes: Uint8Array): { expiresAt: number; key: Buffer } {
  const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { expiresAt: row.readDoubleBE(), key: row.subarray(8) };
}
