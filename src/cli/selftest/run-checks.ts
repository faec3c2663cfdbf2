import { reasonOf } from '../../core/errors.ts';
import type { Check } from './check.ts';
import { ERROR_CHECKS } from './error-checks.ts';
import { KEY_CHECKS } from './key-checks.ts';
import { MODEL_CHECKS } from './model-checks.ts';
import { Skip, type Probe } from './probe.ts';
import { RESOURCE_CHECKS } from './resource-checks.ts';

export interface Outcome {
  /** Id of the requirement. */
  id: string;
  title: string;
  state: 'pass' | 'fail' | 'skip';
  /** Absent for a pass. */
  reason?: string;
}

export const CHECKS: readonly Check[] = [
  ...KEY_CHECKS,
  ...ERROR_CHECKS,
  ...MODEL_CHECKS,
  ...RESOURCE_CHECKS,
];

/** Runs and reports one by one, so that no limit of the key is met. Rejects when aborted. */
export async function runChecks(
  checks: readonly Check[],
  probe: Probe,
  { signal, tell }: { signal: AbortSignal; tell: (outcome: Outcome) => void },
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const check of checks) {
    const outcome = await runCheck(check, probe);
    signal.throwIfAborted();
    outcomes.push(outcome);
    tell(outcome);
  }
  return outcomes;
}

async function runCheck({ id, title, run }: Check, probe: Probe): Promise<Outcome> {
  try {
    await run(probe);
    return { id, title, state: 'pass' };
  } catch (thrown) {
    const reason = reasonOf(thrown).replaceAll(probe.apiKey, '…');
    return { id, title, state: thrown instanceof Skip ? 'skip' : 'fail', reason };
  }
}
