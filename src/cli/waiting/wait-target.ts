import { ClientError } from '../../client/http/client-error.ts';
import type { AdminKind, Client } from '../../client/create-client.ts';
import { statusOf } from '../../client/deployment-runs.ts';
import { isListed, KINDS, kindsWhere } from '../../core/kinds.ts';
import { CliError, usageError } from '../cli-error.ts';
import { findResource } from '../resources/find-resource.ts';
import type { Sought } from '../resources/not-found.ts';

/** Snapshot of an object. */
export interface Standing {
  readonly status: string;
  /** True when the status never changes again. */
  readonly isFinal: boolean;
}

/** Something that can be waited for. */
export interface WaitTarget {
  readonly sought: Sought;
  /** True for a run, which comes to an end of its own. */
  readonly isRun: boolean;
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
      const status = statusOf(await client.deploymentRuns.get(id, signal));
      return { status, isFinal: status !== 'pending' };
    });
  return { sought: { kind: 'runs', named: id }, isRun: true, look };
}

function modelRun(id: string): WaitTarget {
  const look: WaitTarget['look'] = (client, signal) =>
    orAbsent(async () => {
      const { status } = await client.runs.get(id, signal);
      return { status, isFinal: status !== 'queued' && status !== 'running' };
    });
  return { sought: { kind: 'model_runs', named: id }, isRun: true, look };
}

function session(id: string): WaitTarget {
  const look: WaitTarget['look'] = (client, signal) =>
    orAbsent(async () => {
      const { status } = await client.sessions.get(id, signal);
      return { status, isFinal: status === 'terminated' };
    });
  return { sought: { kind: 'sessions', named: id }, isRun: false, look };
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
  return { sought: { kind, named }, isRun: false, look };
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
