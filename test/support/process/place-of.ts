import { readFileSync } from 'node:fs';
import { createHostLiveness } from '../../../src/core/liveness.ts';
import type { ProcessPlace } from '../../../src/core/liveness.ts';

/** A process of this machine as files of gateways name it. */
export function placeOf(pid: number): { pid: number; place: ProcessPlace } {
  const host = createHostLiveness()?.own.host ?? '';
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const started = text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return { pid, place: { host, pid, started } };
}
