import { Buffer } from 'node:buffer';
import type { RunRecord } from './run-record.ts';

/**
 * A run as JSON (requirement run.create.sync-200); its output is put in as it is, byte by byte.
 *
 * @param output JSON; undefined: null
 */
export function toRunBody(record: RunRecord, output: Buffer | undefined): Buffer {
  const { id, model, status, error, usage, at, endedAt } = record;
  const head = JSON.stringify({ id, object: 'run', model, status }).slice(0, -1);
  const tail = JSON.stringify({
    error,
    usage,
    created_at: toTime(at),
    completed_at: endedAt === null ? null : toTime(endedAt),
  }).slice(1);
  return Buffer.concat([
    Buffer.from(`${head},"output":`),
    output ?? Buffer.from('null'),
    Buffer.from(`,${tail}`),
  ]);
}

/**
 * Returns the body of the callback (requirement run.webhook.signature): the same text whenever it
 * is asked.
 */
export function toRunEvent(
  event: { id: string; type: string; at: number },
  { record, output }: { record: RunRecord; output: Buffer | undefined },
): string {
  const { id, type, at } = event;
  const head = JSON.stringify({ type, id, created_at: toTime(at) }).slice(0, -1);
  return `${head},"data":${toRunBody(record, output).toString('utf8')}}`;
}

export const eventTypeOf = ({ status }: Pick<RunRecord, 'status'>): string =>
  status === 'succeeded' ? 'run.succeeded' : 'run.failed';

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
