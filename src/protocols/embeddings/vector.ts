import { Buffer } from 'node:buffer';
import { isBase64 } from '../../core/base64.ts';
import type { EmbeddingEncoding } from './embeddings-request.ts';

/** Numbers, or the base64 of little-endian 32-bit floats. */
export type Vector = readonly number[] | string;

const FLOAT_BYTES = 4;

/** True for a vector that is not empty and can be read. */
export function isVector(value: unknown): value is Vector {
  if (typeof value === 'string') {
    return isBase64(value) && Buffer.byteLength(value, 'base64') % FLOAT_BYTES === 0;
  }
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number');
}

/** The vector in the encoding; the same object when it is so already. */
export function toEncoding(vector: Vector, encoding: EmbeddingEncoding): Vector {
  if (typeof vector === 'string') return encoding === 'base64' ? vector : toNumbers(vector);
  return encoding === 'float' ? vector : toBase64(vector);
}

function toNumbers(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64');
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length; at += FLOAT_BYTES) numbers.push(bytes.readFloatLE(at));
  return numbers;
}

function toBase64(numbers: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(numbers.length * FLOAT_BYTES);
  for (const [index, value] of numbers.entries()) bytes.writeFloatLE(value, index * FLOAT_BYTES);
  return bytes.toString('base64');
}
