import { isJsonObject } from '../../../core/json/value.ts';
import { serverInfo } from '../server-info.ts';
import type { Service } from '../service-desk.ts';

/** A proxy that holds parts of a stream back would hold back progress. */
export const STREAM_HEADERS = { 'x-accel-buffering': 'no' };

/** A result with the members that each has in this revision. */
export function toModernResult(result: object, service: Service): object {
  const { _meta: own } = result as { _meta?: unknown };
  const meta = { 'io.modelcontextprotocol/serverInfo': serverInfo(service) };
  return {
    resultType: 'complete',
    ...result,
    _meta: { ...meta, ...(isJsonObject(own) ? own : {}) },
  };
}
