import type { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import { findMembers } from '../core/json/scan.ts';
import { applyPatches } from '../core/json/splice.ts';
import type { JsonPatch } from '../core/json/splice.ts';

/** The logical name in a body. Throws `invalid_request` with `param: model`. */
export function readModelName(model: unknown): string {
  if (typeof model === 'string' && model !== '') return model;
  const message =
    model === undefined ? '`model` is required' : '`model` must be a non-empty string';
  throw new GatewayError('invalid_request', { message, param: 'model' });
}

/** The same JSON object, known to be one, under another model name; one without a model is left as it is. */
export function rewriteModelName(body: Buffer, model: string): Buffer {
  const patches = modelPatches(body.toString('latin1'), model);
  return patches.length === 0 ? body : applyPatches(body, patches);
}

/**
 * Returns the patches that put another model name into a JSON object, given as latin1, that begins
 * at `offset` of the bytes to be changed. Runs for every chunk of a stream, so nothing is parsed.
 */
export function modelPatches(json: string, model: string, offset = 0): JsonPatch[] {
  const text = JSON.stringify(model);
  const patches: JsonPatch[] = [];
  for (const { key, valueStart, valueEnd } of findMembers(json)) {
    if (key === 'model') patches.push({ start: offset + valueStart, end: offset + valueEnd, text });
  }
  return patches;
}
