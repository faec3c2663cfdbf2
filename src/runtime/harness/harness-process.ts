import { startProcess } from '../process/start-process.ts';
import type { ProcessOptions, RunningProcess } from '../process/start-process.ts';
import { HarnessError } from './harness-error.ts';

/** A running harness. Its `lines` throw `HarnessError`. */
export type HarnessProcess = RunningProcess;

const MAX_LINE = 8 * 1024 * 1024;

/** @throws HarnessError `start_failed` */
export function startHarnessProcess(
  options: Omit<ProcessOptions, 'maxLine' | 'toError'>,
): Promise<HarnessProcess> {
  const toError = (fault: 'start_failed' | 'too_much_output') => new HarnessError(fault);
  return startProcess({ ...options, maxLine: MAX_LINE, toError });
}
