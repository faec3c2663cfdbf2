import type { Buffer } from 'node:buffer';
import { scanJson } from '../../core/json/json-document.ts';
import { spliceJson } from '../../core/json/splice.ts';

/** The same answer or chunk under another model name; one without a `modelVersion` is left as it is. */
export function rewriteModelVersion(body: Buffer, model: string): Buffer {
  const { members } = scanJson(body);
  if (!members.some(({ key }) => key === 'modelVersion')) return body;
  return spliceJson(body, members, [
    { op: 'set', key: 'modelVersion', json: JSON.stringify(model) },
  ]);
}
