import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type PlanFile,
  PlanFileError,
  readPlanFile,
  refuseForeignPlan,
} from '../config/plan-file.ts';
import type { DesiredState } from '../config/desired.ts';
import { CliError } from './cli-error.ts';

/** A file of `gateway plan --out`; throws `no_plan_file` when it cannot be read. */
export async function readSavedPlan(path: string, cwd: string): Promise<PlanFile> {
  let text: string;
  try {
    text = await readFile(resolve(cwd, path), 'utf8');
  } catch (cause) {
    const message = `${path} cannot be read`;
    throw new CliError({ code: 'no_plan_file', message, exit: 'usage', cause });
  }
  try {
    return readPlanFile(text);
  } catch (thrown) {
    throw asConflict(thrown, path);
  }
}

/** Throws `stale_plan` (exit 5) for a plan of another server or of other files. */
export function refuseForeign(
  saved: PlanFile,
  path: string,
  present: { server: string; desired: DesiredState },
): void {
  try {
    refuseForeignPlan(saved, present);
  } catch (thrown) {
    throw asConflict(thrown, path);
  }
}

function asConflict(thrown: unknown, path: string): unknown {
  if (!(thrown instanceof PlanFileError)) return thrown;
  const { message, hint } = thrown;
  return new CliError({
    code: 'stale_plan',
    message: `${path}: ${message}`,
    hint,
    exit: 'conflict',
    cause: thrown,
  });
}
