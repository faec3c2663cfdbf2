import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type PlanFile,
  PlanFileError,
  readPlanFile,
  refuseEditedPlan,
  refuseForeignPlan,
} from '../../config/plan/plan-file.ts';
import type { DesiredState } from '../../config/objects/desired.ts';
import { CliError } from '../cli-error.ts';

/**
 * Reads a file of `gateway plan --out`. Throws `no_plan_file` when it cannot be read, `stale_plan` (exit 5)
 * when it was edited or, given `present`, when it is of another server or of other files.
 */
export async function readSavedPlan(
  path: string,
  cwd: string,
  present?: { server: string; desired: DesiredState },
): Promise<PlanFile> {
  let text: string;
  try {
    text = await readFile(resolve(cwd, path), 'utf8');
  } catch (cause) {
    const message = `${path} cannot be read`;
    throw new CliError({ code: 'no_plan_file', message, exit: 'usage', cause });
  }
  try {
    const saved = readPlanFile(text);
    if (present) refuseForeignPlan(saved, present);
    refuseEditedPlan(saved);
    return saved;
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
