import type { Clock } from '../../core/time/clock.ts';
import type { IdSource } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import { toPublicMessage } from '../../core/redact.ts';
import { parseDuration } from '../../core/time/duration.ts';
import { HARNESS_TIMES } from '../../core/time/harness-times.ts';
import { harnessName } from '../../sessions/resolved-agent.ts';
import type { Session } from '../../sessions/session.ts';
import type { Reaper } from '../reaper/create-reaper.ts';
import type { AgentSetting, HarnessAgent } from './harness-agent.ts';
import { HarnessError } from './harness-error.ts';
import { startHarnessProcess } from './harness-process.ts';
import type { HarnessProcess } from './harness-process.ts';
import type { HarnessProgram } from './harness-program.ts';
import { JsonlAgent } from './jsonl-agent.ts';
import { findHarnessServers } from './mcp-servers.ts';
import type { HarnessServersDeps } from './mcp-servers.ts';
import type { TurnContent } from '../turn/turn-content.ts';
import { programSecrets } from '../tools/program-secrets.ts';
import { toProcessEnvironment } from '../process/process-environment.ts';
import { Scrubber } from './scrubber.ts';
import type { SessionDirectories } from './session-directories.ts';
import { writeSkills } from './skill-folders.ts';
import { whenAborted, within } from './within.ts';

export interface StartAgentDeps {
  /** Declared programs by name. */
  readonly harnesses: ReadonlyMap<string, HarnessProgram>;
  /** Programs of Agents are run, too. Default: only declared ones. */
  readonly harnessesInline?: boolean;
  /** Variables by which a harness gets the secrets of the Session's Agent. */
  readonly credentialsFor: (session: Session) => Promise<Readonly<Record<string, string>>>;
  readonly servers: HarnessServersDeps;
  readonly skills: TurnContent['skills'];
  readonly directories: SessionDirectories;
  readonly reaper: Reaper;
  /** The gateway's own, of which little is passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  /** Version of the gateway. */
  readonly version: string;
}

/** A harness that is ready for a Session. */
export interface StartedAgent {
  readonly agent: HarnessAgent;
  readonly process: HarnessProcess;
  readonly program: HarnessProgram;
  readonly scrubber: Scrubber;
  /** Servers of the Agent that its harness goes without. */
  readonly missingServers: readonly string[];
}

/** Timeouts of inline programs, which declare none. */
const INLINE_TIMEOUTS: HarnessProgram['timeouts'] = {
  start: parseDuration(HARNESS_TIMES.start),
  turn: parseDuration(HARNESS_TIMES.turn),
  stop: parseDuration(HARNESS_TIMES.stop),
};
/** Between the request to end and the kill of a process whose start was aborted. */
const ABORT_GRACE_MS = 300;

/**
 * Starts the harness of a Session's Agent, unless `signal` is aborted before it is ready. Rejects with
 * `HarnessError`, or what `credentialsFor` rejects with; then nothing is left of the process.
 */
export async function startAgent(
  session: Session,
  deps: StartAgentDeps,
  signal: AbortSignal,
): Promise<StartedAgent> {
  const program = findProgram(session.agent, deps);
  if (!program) throw new HarnessError('unavailable');
  const credentials = await deps.credentialsFor(session);
  const { servers: mcpServers, secrets, refused } = await findHarnessServers(session, deps.servers);
  const own = programSecrets(program);
  const scrubber = new Scrubber([...Object.values(credentials), ...secrets, ...own]);
  const directory = await deps.directories.open(session.id);
  const hasSkills = session.agent.skills.length > 0;
  const skills = hasSkills ? await writeSkills(directory, await deps.skills(session)) : [];
  const { inherited, declared } = { inherited: deps.environment, declared: program.env };
  const process = await startHarnessProcess({
    program,
    env: toProcessEnvironment({ inherited, declared, credentials }),
    cwd: directory,
    marker: deps.ids.next('harness'),
    reaper: deps.reaper,
    clock: deps.clock,
    ...reporters(session, scrubber, deps.log),
  });
  const setting = { session, directory, mcpServers, skills, scrubber, version: deps.version };
  const { start, stop } = program.timeouts;
  try {
    const opening = open(program, process, setting);
    const aborted = whenAborted(signal).then(() => signal.throwIfAborted() as never);
    const agent = await within(
      Promise.race([opening, aborted]),
      { ms: start, clock: deps.clock },
      () => {
        throw new HarnessError('start_failed', 'it was not ready in time');
      },
    );
    return {
      agent,
      process,
      program,
      scrubber,
      missingServers: [...refused, ...agent.unusedServers],
    };
  } catch (thrown) {
    await process.end(signal.aborted ? ABORT_GRACE_MS : stop);
    throw thrown;
  }
}

/** The operator may have thought better of it since the Agent was written. */
function findProgram(
  { harness }: Session['agent'],
  { harnesses, harnessesInline }: StartAgentDeps,
): HarnessProgram | undefined {
  if (typeof harness === 'string') return harnesses.get(harness);
  return harness && harnessesInline ? { ...harness, timeouts: INLINE_TIMEOUTS } : undefined;
}

async function open(
  { protocol }: HarnessProgram,
  process: HarnessProcess,
  setting: AgentSetting,
): Promise<HarnessAgent> {
  if (protocol !== 'acp') return new JsonlAgent(process, setting);
  const { openAcpAgent } = await import('./acp-agent.ts');
  return openAcpAgent(process, setting);
}

function reporters({ id, agent }: Session, scrubber: Scrubber, log: Log) {
  const fields = { session: id, harness: harnessName(agent) };
  return {
    onStderr: (line: string) =>
      log.info('harness', { ...fields, line: toPublicMessage(scrubber.text(line)) }),
    onStuck: () => log.error('processes of a harness cannot be ended', fields),
  };
}
