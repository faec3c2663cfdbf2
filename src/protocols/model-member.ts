import type { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import { scanJson } from '../core/json-scan.ts';
import { spliceJson } from '../core/json-splice.ts';

/** The logical name in a body. Throws `invalid_request` with `param: model`. */
export function readModelName(model: unknown): string {
  if (typeof model === 'string' && model !== '') return model;
  const message =
    model === undefined ? '`model` is required' : '`model` must be a non-empty string';
  throw new GatewayError('invalid_request', { message, param: 'model' });
}

/** The same answer or chunk under another model name; one without a model is left as it is. */
export function rewriteModelName(body: Buffer, model: string): Buffer {
  const { members } = scanJson(body);
  if (!members.some(({ key }) => key === 'model')) return body;
  return spliceJson(body, members, [{ op: 'set', key: 'model', json: JSON.stringify(model) }]);
}
