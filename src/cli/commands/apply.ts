import { apply, StalePlanError, type ApplyReport } from '../../config/apply.ts';
import type { GatewayConfig } from '../../config/load-config.ts';
import { nodeConfigFiles } from '../../config/load.ts';
import { ownerFor, type Plan } from '../../config/plan.ts';
import { resolveAllSecrets } from '../../config/secrets.ts';
import { toResourceClient } from '../admin-resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { CommandInput, CommandResult, CommandRun } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { makePlan, planChoice } from '../make-plan.ts';
import { invalidConfig, projectFile, withProject } from '../project.ts';
import { renderPlan, renderReport } from '../render-plan.ts';
import { createStyle } from '../style.ts';

export const run: CommandRun = (input) =>
  withProject(input, (config) => applyProject(input, config));

async function applyProject(input: CommandInput, config: GatewayConfig): Promise<CommandResult> {
  const { flags, context } = input;
  const { env } = context.io;
  const resolved = await resolveAllSecrets(config.desired, { env, files: nodeConfigFiles });
  if (resolved.diagnostics.length > 0) return invalidConfig(resolved.diagnostics);

  const client = await context.connect({ near: projectFile(input) });
  const resources = toResourceClient(client);
  const sources = { config, resources, server: client.baseUrl };
  const made = await makePlan(sources, planChoice(flags));
  if (flags.on('dry-run') || made.plan.summary.total === 0) {
    return { data: made.plan, text: (style) => renderPlan(made.plan, style, { all: false }) };
  }
  requirePruneCount(made.plan, flags.number('confirm-prune'));
  context.output.note(`target: ${client.baseUrl} (all organizations)`);
  context.output.note(renderPlan(made.plan, createStyle(false), { all: false }));
  await context.confirm(`Apply ${made.plan.summary.total} changes to ${client.baseUrl}?`);
  try {
    const report = await apply({
      plan: made.plan,
      desired: config.desired,
      owner: ownerFor(made.options),
      client: resources,
      secrets: resolved.secrets,
      signal: context.signal,
    });
    return reportResult(report);
  } catch (thrown) {
    if (!(thrown instanceof StalePlanError)) throw thrown;
    throw new CliError({
      code: 'stale_plan',
      message: thrown.message,
      hint: 'somebody changed it meanwhile; run the command again',
      exit: 'conflict',
      cause: thrown,
    });
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

function reportResult(report: ApplyReport): CommandResult {
  const result: CommandResult = { data: report, text: (style) => renderReport(report, style) };
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
