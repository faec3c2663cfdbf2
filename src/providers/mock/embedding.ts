import { createHash } from 'node:crypto';

const MAX_WORDS = 1000;
/** Most inputs, as many as other providers take; each has a vector. */
export const MAX_INPUTS = 2048;
/** Share of the vector that makes two texts with the same words differ. */
const NOISE = 0.05;

/**
 * A unit vector from the words of `text`: the same text gives the same vector, and texts that share
 * words point in similar directions, so that a search over them is useful without a model.
 */
export function embed(text: string, dimensions: number): number[] {
  const vector = new Float64Array(dimensions);
  add(vector, `text:${text}`, NOISE);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  for (const word of words.slice(0, MAX_WORDS)) add(vector, word, 1);
  const length = Math.hypot(...vector);
  return Array.from(vector, (value) => Number((value / length).toPrecision(7)));
}

/** A text, a list of texts, the token numbers of one text, or a list of those. */
export function toEmbeddingInputs(input: unknown): (string | number[])[] {
  if (!Array.isArray(input)) return [typeof input === 'string' ? input : ''];
  const list: unknown[] = input;
  if (isTokens(list)) return [list];
  return list.map((part) => (Array.isArray(part) && isTokens(part) ? part : String(part)));
}

/** Little-endian float32, as the wire wants it. */
export function toBase64Vector(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, i) => bytes.writeFloatLE(value, i * 4));
  return bytes.toString('base64');
}

/** Adds the pseudo-random direction that belongs to `seed`. */
function add(vector: Float64Array, seed: string, weight: number): void {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  for (let i = 0; i < vector.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    vector[i] = (vector[i] ?? 0) + weight * (state / 2 ** 31 - 1);
  }
}

function isTokens(list: unknown[]): list is number[] {
  return list.length > 0 && list.every((part) => typeof part === 'number');
}
