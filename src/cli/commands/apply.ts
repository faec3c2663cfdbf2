import { randomUUID } from 'node:crypto';
import { apply, type ApplyOptions, type ApplyReport } from '../../config/apply.ts';
import type { GatewayConfig } from '../../config/load-config.ts';
import { nodeConfigFiles } from '../../config/load.ts';
import { ownerFor, type Plan } from '../../config/plan.ts';
import { oneLine } from '../../core/printable.ts';
import { resolveAllSecrets } from '../../config/secrets.ts';
import { StalePlanError } from '../../config/stale-plan-error.ts';
import { toResourceClient } from '../admin-resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { CommandInput, CommandResult, CommandRun } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { toFailure } from '../failure.ts';
import { makePlan, planChoice, type PlanSources } from '../make-plan.ts';
import { invalidConfig, projectFile, withProject } from '../project.ts';
import { renderOutcome, renderPlan, renderReport } from '../render-plan.ts';
import { readSavedPlan, refuseForeign } from '../saved-plan.ts';
import { createStyle, type Style } from '../style.ts';
import { type WaitOptions, waitUntilServed } from '../wait-until-served.ts';

export const run: CommandRun = (input) =>
  withProject(input, (config) => applyProject(input, config));

async function applyProject(input: CommandInput, config: GatewayConfig): Promise<CommandResult> {
  const { flags, context } = input;
  const { env } = context.io;
  const resolved = await resolveAllSecrets(config.desired, { env, files: nodeConfigFiles });
  if (resolved.diagnostics.length > 0) return invalidConfig(resolved.diagnostics);

  const client = await context.connect({ near: projectFile(input) });
  const resources = toResourceClient(client);
  const { plan, isSaved } = await planOf(input, { config, resources, server: client.baseUrl });
  if (flags.on('dry-run') || plan.summary.total === 0) {
    return { data: plan, text: (style) => renderPlan(plan, style, { all: false }) };
  }
  requirePruneCount(plan, flags.number('confirm-prune'));
  requireReplace(plan, flags.on('allow-replace'));
  context.output.note(`target: ${client.baseUrl} (all organizations)`);
  context.output.note(renderPlan(plan, createStyle(false), { all: false }));
  // Who saved the plan has seen it.
  if (!isSaved) await context.confirm(`Apply ${plan.summary.total} changes to ${client.baseUrl}?`);
  try {
    const report = await apply({
      plan,
      desired: config.desired,
      owner: ownerFor({ desired: config.desired, mode: plan.mode }),
      client: resources,
      secrets: resolved.secrets,
      runId: randomUUID(),
      parallelism: flags.number('parallelism') ?? 1,
      signal: context.signal,
      onOutcome: progress(context, plan.summary.total),
    });
    const result = reportResult(report, context);
    if (!flags.on('wait') || result.failure) return result;
    const onWaiting = waitProgress(context);
    return await waited(result, { client, desired: config.desired, report, context, onWaiting });
  } catch (thrown) {
    if (!(thrown instanceof StalePlanError)) throw thrown;
    throw new CliError({
      code: 'stale_plan',
      message: thrown.message,
      hint: isSaved
        ? 'somebody changed it since; make a new plan with `gateway plan --out`'
        : 'somebody changed it meanwhile; run the command again',
      exit: 'conflict',
      cause: thrown,
    });
  }
}

/** The saved plan that --plan names, else a new one. */
async function planOf(
  { flags, context }: CommandInput,
  sources: PlanSources,
): Promise<{ plan: Plan; isSaved: boolean }> {
  const path = flags.text('plan');
  if (path === undefined) {
    const { plan } = await makePlan(sources, planChoice(flags));
    return { plan, isSaved: false };
  }
  if (['prune', 'adopt'].some((name) => flags.on(name)) || flags.list('write-secret').length > 0) {
    throw usageError(
      'a saved plan has decided what is changed',
      'give --prune, --adopt and --write-secret to `gateway plan --out`',
    );
  }
  const saved = await readSavedPlan(path, context.io.cwd);
  refuseForeign(saved, path, { server: sources.server, desired: sources.config.desired });
  return { plan: saved.plan, isSaved: true };
}

/** A line on stderr for each object that is done, where somebody watches. */
function progress({ io, output }: CommandContext, total: number): ApplyOptions['onOutcome'] {
  if (io.stderr.isTTY !== true) return undefined;
  let count = 0;
  return (outcome, what) =>
    output.note(`[${++count}/${total}] ${renderOutcome(outcome, what, createStyle(false))}`);
}

/** A line on stderr for what is not served yet, where somebody watches. */
function waitProgress({ io, output }: CommandContext): WaitOptions['onWaiting'] {
  if (io.stderr.isTTY !== true) return undefined;
  return (missing) =>
    output.note(
      missing.length === 0
        ? 'everything is served'
        : oneLine(`waiting until ${missing.length} are served: ${missing.join(', ')}`),
    );
}

/** What was applied is told whatever comes of the wait. */
async function waited(result: CommandResult, options: WaitOptions): Promise<CommandResult> {
  try {
    const missing = await waitUntilServed(options);
    if (missing.length === 0) return result;
    const message = `applied, but not served in time: ${missing.join(', ')}`;
    const hint = 'look again with `gateway models list`, or raise --timeout';
    const exitCode = EXIT.unknown_outcome.code;
    return { ...result, failure: { code: 'not_served', message, hint, exitCode } };
  } catch (thrown) {
    return { ...result, failure: toFailure(thrown) };
  }
}

/** Removing much needs the number that was seen, so that a wrong file does no harm. */
function requirePruneCount({ confirmPrune }: Plan, given: number | undefined): void {
  if (confirmPrune === null || confirmPrune === given) return;
  throw usageError(
    `${confirmPrune} objects would be removed`,
    `look at \`gateway plan --prune\`, then add --confirm-prune ${confirmPrune}`,
  );
}

/** A new object has another id: whoever knows the old one has to be told. */
function requireReplace({ actions }: Plan, isAllowed: boolean): void {
  const replaced = actions.filter(({ action }) => action === 'replace');
  if (isAllowed || replaced.length === 0) return;
  const names = replaced.map(
    ({ kind, identity, forcedBy = [] }) => `${kind} ${identity} (${forcedBy.join(', ')})`,
  );
  throw usageError(
    `would be deleted and made anew, with another id: ${names.join('; ')}`,
    'add --allow-replace when nothing needs the old id',
  );
}

/** New values of keys, where a person reads them; the log of a pipeline is no place for them. */
function issuedLines({ issued }: ApplyReport, { io, format, output }: CommandContext): string[] {
  if (format !== 'text' || issued.length === 0) return [];
  if (io.stdout.isTTY === true) {
    return issued.map(({ identity, value }) => `key ${identity}, shown once: ${value}`);
  }
  const names = issued.map(({ identity }) => identity).join(', ');
  output.warn(`new keys whose values only -o json or a terminal shows, once: ${names}`);
  return [];
}

function reportResult(report: ApplyReport, context: CommandContext): CommandResult {
  const issued = issuedLines(report, context);
  const text = (style: Style) => [renderReport(report, style), ...issued].join('\n');
  const result: CommandResult = { data: report, text };
  const { applied, failed, blocked, notRun } = report;
  const missing = failed.length + blocked.length + notRun.length;
  if (missing === 0) return result;
  const exit = applied.length > 0 ? EXIT.partial : EXIT.failed;
  return {
    ...result,
    failure: {
      code: applied.length > 0 ? 'partly_applied' : 'not_applied',
      message: `${missing} of ${missing + applied.length} changes were not applied`,
      hint: 'once the cause is gone, the same command completes the rest',
      exitCode: exit.code,
    },
  };
}
