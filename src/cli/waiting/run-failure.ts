import type { Client } from '../../client/create-client.ts';
import type { JoinedRun } from '../../client/deployment-runs.ts';
import { toShellArguments } from '../../core/shell-word.ts';
import type { Failure } from '../command.ts';
import { addNames, nameMember } from '../details/references.ts';
import { EXIT } from '../exit-codes.ts';
import { outcomeText } from '../output/run-line.ts';
import { findWait } from './find-wait.ts';

const NAME = nameMember('deployment_id');

/** Failure of a command that awaited a run; undefined for one that was completed, or is under way. */
export async function runFailure(
  client: Client,
  run: JoinedRun,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const { id, session_id: session, outcome, deployment_id: schedule } = run;
  const { type, reason } = outcome;
  if (type === 'pending' || type === 'running' || type === 'completed') return undefined;
  if (type === 'waiting' && session !== null) {
    const wait = await findWait(client, session, signal)();
    if (wait) return wait;
  }
  const named: Readonly<Record<string, unknown>> =
    NAME in run ? run : await addNames(client, run, signal);
  const { [NAME]: found } = named;
  const name = typeof found === 'string' ? found : schedule;
  const look = session !== null ? `\`gateway sessions events ${session}\` shows its events; ` : '';
  return {
    code: type === 'unknown' ? 'unknown_outcome' : (reason ?? type),
    message: `run ${id} ${outcomeText(outcome)}`,
    hint:
      type === 'unknown'
        ? 'look with `gateway runs list` before you trigger its Schedule again'
        : `${look}\`gateway trigger ${toShellArguments(name)}\` runs its Schedule again`,
    exitCode: (type === 'unknown' ? EXIT.unknown_outcome : EXIT.run_failed).code,
  };
}
