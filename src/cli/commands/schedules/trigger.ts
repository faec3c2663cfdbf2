import { ClientError } from '../../../client/http/client-error.ts';
import type { Client } from '../../../client/create-client.ts';
import type { DeploymentRunView, JoinedRun } from '../../../client/deployment-runs.ts';
import { collect } from '../../../client/http/pages.ts';
import type { TailEnd } from '../../../client/http/rest-watch.ts';
import type { SessionEvent } from '../../../sessions/log/session-event.ts';
import type { CommandResult } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { nameMember } from '../../details/references.ts';
import { renderDetails } from '../../details/render-details.ts';
import { eventLine } from '../../output/event-line.ts';
import { EXIT } from '../../exit-codes.ts';
import { findDeployment } from '../../resources/find-deployment.ts';
import { toFailure } from '../../failure.ts';
import { beginningOf, outcomeText, runLine } from '../../output/run-line.ts';
import { showEvents } from '../../waiting/show-events.ts';
import { findWait } from '../../waiting/find-wait.ts';
import { runFailure } from '../../waiting/run-failure.ts';
import type { RunOf } from '../../commands.ts';

/** Manual runs that are compared to find those of a trigger whose answer was lost. */
const RECENT = 20;

export const run: RunOf<'trigger'> = async ({ args, flags, context }) => {
  const { signal, clock, timeoutMs } = context;
  const end = clock.monotonic() + timeoutMs;
  const client = await context.connect();
  const { id, name } = await findDeployment(client, args.schedule, signal);
  const before = await recentRuns(client, id, signal);
  let made: DeploymentRunView;
  try {
    made = await client.deployments.trigger(id, signal);
  } catch (thrown) {
    if (!mayHaveActed(thrown)) throw thrown;
    return unknownOutcome(thrown, await candidates(client, id, before));
  }
  if (!flags.wait && !flags.tail) return shown(made, name);
  const left = Math.max(0, end - clock.monotonic());
  const options = { timeoutMs: left, signal };
  try {
    if (flags.tail) {
      made = await client.deploymentRuns.decided(made, options);
      if (made.error === null) return await tail(client, { ...made, [NAME]: name }, context);
    }
    const run = await client.deploymentRuns.atRest(made, options);
    const failure = await runFailure(client, { ...run, [NAME]: name }, signal);
    return { ...shown(run, name), failure };
  } catch (thrown) {
    if (!(thrown instanceof ClientError) || thrown.code !== 'timeout') throw thrown;
    const { id: run } = made;
    const hint = `the run continues: \`gateway runs get ${run}\` shows it, \`gateway wait ${run}\` waits for it`;
    return { ...shown(made, name), failure: { ...toFailure(thrown), hint } };
  }
};

const NAME = nameMember('deployment_id');

function shown(made: DeploymentRunView | JoinedRun, name: string): CommandResult {
  const data = { ...made, [NAME]: name };
  const fields =
    'outcome' in made
      ? { ...data, outcome: outcomeText((made as JoinedRun).outcome) }
      : { ...data, status: beginningOf(made) };
  return { data, text: (style) => renderDetails(fields, style) };
}

function tail(
  client: Client,
  run: DeploymentRunView,
  { output, signal }: CommandContext,
): Promise<CommandResult> {
  return showEvents(eventsOf(client, run, signal), {
    output,
    textOf: (event) => ('deployment_id' in event ? `${runLine(run)}\n` : `${eventLine(event)}\n`),
    isAwaited: true,
    findWait: findWait(client, run.session_id ?? '', signal),
  });
}

/** The run, then its Session until that rests. */
async function* eventsOf(
  client: Client,
  run: DeploymentRunView,
  signal: AbortSignal,
): AsyncGenerator<DeploymentRunView | SessionEvent, TailEnd, undefined> {
  yield run;
  return yield* client.sessions.tail(run.session_id ?? '', { untilRest: true, signal });
}

/** Nothing was sent, or the gateway refused it: everything else may have made a run. */
function mayHaveActed(thrown: unknown): thrown is ClientError {
  if (!(thrown instanceof ClientError)) return false;
  return thrown.status === undefined ? thrown.code !== 'unreachable' : !isRefusal(thrown.status);
}

const isRefusal = (status: number): boolean => status >= 300 && status < 500;

function recentRuns(
  client: Client,
  id: string,
  signal?: AbortSignal,
): Promise<DeploymentRunView[]> {
  const filters = { deployment_id: id, trigger_type: 'manual', limit: RECENT };
  return collect(client.deploymentRuns.list(filters, signal), RECENT);
}

/** Undefined when the listing fails. It ignores the signal, which may have ended the call. */
async function candidates(
  client: Client,
  id: string,
  before: readonly DeploymentRunView[],
): Promise<DeploymentRunView[] | undefined> {
  const known = new Set(before.map((run) => run.id));
  try {
    return (await recentRuns(client, id)).filter((run) => !known.has(run.id));
  } catch {
    return undefined;
  }
}

function unknownOutcome(
  error: ClientError,
  found: readonly DeploymentRunView[] | undefined,
): CommandResult {
  const hint =
    found === undefined
      ? 'look with `gateway runs list` before you trigger it again'
      : found.length === 0
        ? 'no run was made since, so far; look again before you repeat it'
        : 'look at these runs before you trigger it again';
  const message = `it is unknown whether the trigger took effect: ${error.message}`;
  const { status } = error;
  return {
    data: { candidates: found ?? null },
    text: (found ?? []).map((run) => runLine(run)).join('\n'),
    failure: {
      code: 'unknown_outcome',
      message,
      hint,
      status,
      exitCode: EXIT.unknown_outcome.code,
    },
  };
}
