import { ClientError } from '../../../client/http/client-error.ts';
import type { Client } from '../../../client/create-client.ts';
import { statusOf } from '../../../client/deployment-runs.ts';
import type { DeploymentRunView } from '../../../client/deployment-runs.ts';
import { collect } from '../../../client/http/pages.ts';
import type { TailEnd } from '../../../client/http/rest-watch.ts';
import type { SessionEvent } from '../../../sessions/log/session-event.ts';
import type { CommandResult, Failure } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { nameMember } from '../../details/references.ts';
import { renderDetails } from '../../details/render-details.ts';
import { eventLine } from '../../output/event-line.ts';
import { EXIT } from '../../exit-codes.ts';
import { findDeployment } from '../../resources/find-deployment.ts';
import { toFailure } from '../../failure.ts';
import { outcomeOf, runLine } from '../../output/run-line.ts';
import { showEvents } from '../../output/show-events.ts';
import type { RunOf } from '../../commands.ts';

/** Manual runs that are compared to find those of a trigger whose answer was lost. */
const RECENT = 20;

export const run: RunOf<'trigger'> = async ({ args, flags, context }) => {
  const { signal, clock, timeoutMs } = context;
  const client = await context.connect();
  const { id, name } = await findDeployment(client, args.deployment, signal);
  const before = await recentRuns(client, id, signal);
  const end = clock.monotonic() + timeoutMs;
  let made: DeploymentRunView;
  try {
    made = await client.deployments.trigger(id, signal);
  } catch (thrown) {
    if (!mayHaveActed(thrown)) throw thrown;
    return unknownOutcome(thrown, await candidates(client, id, before));
  }
  if (!flags.wait && !flags.tail) return shown(made, name);
  const left = Math.max(0, end - clock.monotonic());
  try {
    made = await client.deploymentRuns.decided(made, { timeoutMs: left, signal });
  } catch (thrown) {
    if (!(thrown instanceof ClientError) || thrown.code !== 'timeout') throw thrown;
    const hint = `the run continues: gateway runs get ${made.id}`;
    return { ...shown(made, name), failure: { ...toFailure(thrown), hint } };
  }
  if (made.error !== null) return { ...shown(made, name), failure: failureOf(made) };
  return flags.tail ? tail(client, made, context) : shown(made, name);
};

function shown(made: DeploymentRunView, name: string): CommandResult {
  const data = { ...made, [nameMember('deployment_id')]: name };
  const fields = { ...data, status: statusOf(made) };
  return { data, text: (style) => renderDetails(fields, style) };
}

function failureOf(made: DeploymentRunView): Failure {
  const message = `run ${made.id} failed: ${outcomeOf(made)}`;
  return { code: made.error?.type ?? '', message, exitCode: EXIT.run_failed.code };
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
