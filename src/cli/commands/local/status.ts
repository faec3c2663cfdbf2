import type { Runtime, SignalOutcome } from '../../../core/process/runtime-file.ts';
import { counted } from '../../../core/counted.ts';
import { routesText } from '../../details/provider-health.ts';
import type { CommandResult } from '../../command.ts';
import { toFailure } from '../../failure.ts';
import { askOwn } from '../../local/ask-own.ts';
import type { Asked } from '../../local/ask-own.ts';
import { findOwnFolder, notRunning } from '../../local/own-gateway.ts';
import { shownPath } from '../../output/shown-path.ts';
import { renderFields } from '../../output/table.ts';
import type { Style } from '../../output/style.ts';
import type { CommandContext } from '../../context.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'status'> = async (input) => {
  const { context } = input;
  const folder = await findOwnFolder(input);
  const [runtime, ...others] = folder.live;
  const asked = runtime && (await askOwn(runtime, folder.dataDir, context));
  // A process that cannot be seen runs when it answers.
  if (!runtime || (runtime.state === 'unsure' && asked?.isReady === undefined))
    return missing(folder.dataDir, toFailure(notRunning(folder, context)));
  const { record } = runtime;
  const data = {
    running: true,
    data_dir: folder.dataDir,
    pid: record.pid ?? null,
    since: record.since ?? null,
    version: record.version ?? asked?.status?.version ?? null,
    url: record.url,
    files: record.files ?? [],
    watch: record.watch ?? false,
    last: record.last ?? null,
    others: others.map((one) => ({ pid: one.record.pid ?? null, url: one.record.url })),
    gateway: asked?.status ?? null,
    sessions_waiting: asked?.waiting ?? null,
    problem: asked?.problem ?? null,
  };
  const text = (style: Style): string =>
    renderFields(rowsOf(runtime, { asked, others, dataDir: folder.dataDir, context }), style);
  return { data, text };
};

function missing(dataDir: string, failure: ReturnType<typeof toFailure>): CommandResult {
  return { data: { running: false, data_dir: dataDir }, text: '', failure };
}

interface Shown {
  readonly asked: Asked | undefined;
  readonly others: readonly Runtime[];
  readonly dataDir: string;
  readonly context: CommandContext;
}

function rowsOf(
  { record, state }: Runtime,
  { asked, others, dataDir, context }: Shown,
): Record<string, string | undefined> {
  const { pid, since, version, url, files, watch = false, last } = record;
  const { status, isReady, waiting, problem } = asked ?? {};
  const seen = state === 'running' ? '' : ', which cannot be seen from here';
  const lines = (texts: readonly string[]) => (texts.length === 0 ? undefined : texts.join('\n'));
  return {
    gateway: `${conditionOf(isReady)}: process ${pid ?? '?'}${since ? ` since ${since}` : ''}${seen}`,
    address: url,
    version: version ?? status?.version,
    follows:
      files &&
      followed(
        files.map((file) => shownPath(file, context.io.cwd)),
        watch,
      ),
    data: shownPath(dataDir, context.io.cwd),
    store: status && `${status.store.driver}, ${status.store.state}`,
    processes: status && `${status.workers.length} on this store`,
    reload: last && lastText(last),
    providers: status && lines(status.providers.map(providerText)),
    waits: status && (lines(waitText(status.work ?? {}, waiting)) ?? 'nothing'),
    also: lines(others.map((one) => `process ${one.record.pid ?? '?'} at ${one.record.url}`)),
    problem,
  };
}

function conditionOf(isReady: Asked['isReady']): string {
  if (isReady === undefined) return 'runs, but could not be asked';
  return isReady ? 'runs' : 'runs, but is not ready: it drains, or its store fails';
}

function followed(files: readonly string[], watch: boolean): string {
  if (files.length === 0) return 'no file: the environment is its configuration';
  const how = watch ? 'at every change' : 'at `gateway reload`';
  return `${files.join(', ')}, ${how}`;
}

function lastText({ action, at, error }: SignalOutcome): string {
  const outcome = error === null ? 'done' : `refused, ${error}`;
  return `${action === 'restart' ? 'restart of the workers, ' : ''}${outcome}, ${new Date(at).toISOString()}`;
}

type Status = NonNullable<Asked['status']>;

function providerText({ name, routes }: Status['providers'][number]): string {
  return `${name}: ${counted(routes.length, 'route')}, ${routesText(routes)}`;
}

const WORK: Readonly<Record<string, string>> = {
  turns: 'turn of Sessions',
  triggers: 'run of Schedules',
  runs: 'asynchronous run',
  webhooks: 'webhook',
};

function waitText(work: Readonly<Record<string, number>>, waiting: number | undefined): string[] {
  const jobs = Object.entries(work)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => {
      const [one = name, rest = ''] = (WORK[name] ?? name).split(/(?= of )/);
      return `${counted(count, one)}${rest} begun or waiting`;
    });
  if (!waiting) return jobs;
  const sessions = `${counted(waiting, 'Session')} for a person: \`gateway sessions list --waiting\``;
  return [sessions, ...jobs];
}
