import { ClientError } from '../../client/http/client-error.ts';
import type { AdminKind, Client } from '../../client/create-client.ts';
import { isAtRest } from '../../client/run-outcome.ts';
import { isListed, KINDS, kindsWhere } from '../../core/kinds.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { Failure } from '../command.ts';
import { findResource } from '../resources/find-resource.ts';
import type { Sought } from '../resources/not-found.ts';
import { findWait } from './find-wait.ts';
import { runFailure } from './run-failure.ts';

/** Snapshot of an object. */
export interface Standing {
  readonly status: string;
  /** True when the status never changes again. */
  readonly isFinal: boolean;
  /** Absent for a resource, which has no end of its own. */
  readonly end?: { readonly isCompleted: boolean; readonly isOver: boolean };
  /** Finds why it is not completed; undefined: it is, or may still be. */
  explain?(signal: AbortSignal): Promise<Failure | undefined>;
}

/** Something that can be waited for. */
export interface WaitTarget {
  readonly sought: Sought;
  /** True for a run or a Session, whose work comes to an end. */
  readonly ends: boolean;
  /** Undefined when it does not exist. */
  look(client: Client, signal: AbortSignal): Promise<Standing | undefined>;
}

const TARGETS: Readonly<Record<string, AdminKind>> = {
  ...Object.fromEntries(kindsWhere(isListed).map((kind) => [KINDS[kind].name, kind])),
  schedule: 'deployments',
};
const ENDINGS = ['archived_at', 'revoked_at'] as const;

/** Reads `RUN` (the id of a run or Session) or `KIND/NAME`. @throws CliError `usage` (exit 64) */
export function toWaitTarget(text: string): WaitTarget {
  const [kind = '', ...rest] = text.split('/');
  const named = rest.join('/');
  const id = kind === 'run' || kind === 'session' ? named : text;
  if (id.startsWith('drun_')) return scheduleRun(id);
  if (id.startsWith('run_')) return modelRun(id);
  if (id.startsWith('sess_')) return session(id);
  const admin = Object.hasOwn(TARGETS, kind) ? TARGETS[kind] : undefined;
  if (admin !== undefined && named !== '') return resource(admin, named);
  throw usageError(
    `"${text}" is neither the id of a run or Session nor KIND/NAME`,
    `kinds: ${Object.keys(TARGETS).join(', ')}, run, session`,
  );
}

function scheduleRun(id: string): WaitTarget {
  const look: WaitTarget['look'] = (client, signal) =>
    orAbsent(async () => {
      const made = await client.deploymentRuns.get(id, signal);
      const run = await client.deploymentRuns.withOutcome(made, signal);
      const { outcome } = run;
      const { type: status } = outcome;
      const isOver = isAtRest(outcome);
      const end = { isCompleted: status === 'completed', isOver };
      const explain = (left: AbortSignal) => runFailure(client, run, left);
      return { status, isFinal: isOver && status !== 'waiting', end, explain };
    });
  return { sought: { kind: 'runs', named: id }, ends: true, look };
}

function modelRun(id: string): WaitTarget {
  const look: WaitTarget['look'] = (client, signal) =>
    orAbsent(async () => {
      const { status } = await client.runs.get(id, signal);
      const isFinal = status !== 'queued' && status !== 'running';
      return { status, isFinal, end: { isCompleted: status === 'succeeded', isOver: isFinal } };
    });
  return { sought: { kind: 'model_runs', named: id }, ends: true, look };
}

function session(id: string): WaitTarget {
  const look: WaitTarget['look'] = (client, signal) =>
    orAbsent(async () => {
      const { status, outcome } = await client.sessions.get(id, signal);
      const type = outcome?.type;
      const isOver = status === 'terminated' || (outcome != null && isAtRest(outcome));
      const end = { isCompleted: type === 'completed', isOver };
      const explain = (left: AbortSignal) => findWait(client, id, left)();
      return { status, isFinal: status === 'terminated', end, explain };
    });
  return { sought: { kind: 'sessions', named: id }, ends: true, look };
}

function resource(kind: AdminKind, named: string): WaitTarget {
  const look: WaitTarget['look'] = (client, signal) =>
    orAbsent(async () => {
      const view = await findResource(client, { kind, named }, signal);
      const ended = ENDINGS.find((field) => typeof view[field] === 'string');
      if (ended !== undefined) return { status: ended.replace('_at', ''), isFinal: true };
      const { status, enabled } = view;
      const known = typeof status === 'string' ? status : undefined;
      return { status: known ?? (enabled === false ? 'disabled' : 'active'), isFinal: false };
    });
  return { sought: { kind, named }, ends: false, look };
}

async function orAbsent(look: () => Promise<Standing>): Promise<Standing | undefined> {
  try {
    return await look();
  } catch (thrown) {
    const isKnown = thrown instanceof ClientError || thrown instanceof CliError;
    if (isKnown && thrown.status === 404) return undefined;
    throw thrown;
  }
}
