import { titleOf } from '../../../config/objects/kinds.ts';
import { randomUUID } from 'node:crypto';
import type { Client } from '../../../client/create-client.ts';
import type { ApplyOptions, ApplyReport } from '../../../config/apply/apply-options.ts';
import { refuseStale } from '../../../config/apply/apply.ts';
import { nameOrganizations } from '../../../config/actual/name-organizations.ts';
import { deploy, type Planned } from '../../../config/apply/deploy.ts';
import type { GatewayConfig } from '../../../config/read/load-config.ts';
import { ownerFor, type Plan, writtenKinds } from '../../../config/plan/plan.ts';
import { leftOut } from '../../../config/plan/fixed.ts';
import { counted } from '../../../core/counted.ts';
import { oneLine } from '../../../core/printable.ts';
import { StalePlanError } from '../../../config/plan/stale-plan-error.ts';
import { toResourceClient } from '../../resources/admin-resources.ts';
import { CliError, usageError } from '../../cli-error.ts';
import type { CommandResult, Failure } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import { toFailure } from '../../failure.ts';
import { makePlan, planChoice, missingModelTexts, slugConflicts } from '../../project/make-plan.ts';
import {
  type Followed,
  followsItself,
  readFollowed,
  withFollowNote,
} from '../../project/followed.ts';
import { invalidConfig, projectFile, withSelected } from '../../project/project.ts';
import { listed } from '../../output/listed.ts';
import { renderOutcome, renderPlan, renderReport } from '../../output/render-plan.ts';
import { requireRights } from '../../project/require-rights.ts';
import { readSavedPlan } from '../../project/saved-plan.ts';
import { createStyle, type Style } from '../../output/style.ts';
import { inTurn } from '../../waiting/in-turn.ts';
import { type WaitOptions, waitUntilServed } from '../../local/wait-until-served.ts';
import type { InputOf, RunOf } from '../../commands.ts';

/** Objects that the message of a failure names. */
const MAX_TITLES = 5;

export const run: RunOf<'apply'> = (input) =>
  withSelected(
    input,
    (config) => {
      const once = () => applyProject(input, config);
      // The one who gives way has written nothing; a saved plan is not made again.
      return input.flags.plan === undefined ? inTurn(input, once) : once();
    },
    { mayBeGone: input.flags.prune },
  );

async function applyProject(
  input: InputOf<'apply'>,
  config: GatewayConfig,
): Promise<CommandResult> {
  const { flags, context } = input;
  const { diagnostics, planned, report, waited } = await deploy<Made, Failure | undefined>({
    desired: config.desired,
    sources: config.sources,
    plan: () => planOf(input, config),
    confirm: (made) => confirmed(made, input),
    progress: ({ summary }) => progress(context, summary.total),
    ...(flags.wait && {
      wait: ({ server, desired }, written) =>
        awaited({
          client: server,
          desired,
          report: written,
          context,
          onWaiting: waitProgress(context),
        }),
    }),
    runId: randomUUID(),
    parallelism: flags.parallelism,
    signal: context.signal,
  }).catch(rethrowStale(flags.plan !== undefined));
  if (planned === undefined) return invalidConfig(diagnostics);
  const { plan } = planned;
  const shown = {
    data: plan,
    text: (style: Style) =>
      withFollowNote(renderPlan(plan, style, { all: false }), plan, planned.followed),
  };
  if (report === undefined) return shown;
  const isEmpty = plan.summary.total === 0;
  const result = isEmpty
    ? withLeftOut(withRecord(shown, report), plan)
    : reportResult(report, context);
  return waited === undefined ? result : { ...result, failure: waited };
}

/** Shows the plan and asks whether it is to be carried out; false for --dry-run. */
async function confirmed(
  { plan, server, followed }: Made,
  { flags, context }: InputOf<'apply'>,
): Promise<boolean> {
  if (followed?.isSame) {
    if (plan.summary.total === 0 || flags['dry-run']) return false;
    context.output.note(renderPlan(plan, createStyle(false), { all: false }));
    throw followsItself(plan, followed);
  }
  if (flags['dry-run']) return false;
  requirePruneCount(plan, { given: flags['confirm-prune'], asks: context.asks });
  requireReplace(plan, flags['allow-replace']);
  const { total } = plan.summary;
  if (total === 0) return true;
  await requireRights(server, { kinds: writtenKinds(plan), signal: context.signal });
  context.output.note(`target: ${server.baseUrl} (all organizations)`);
  context.output.note(renderPlan(plan, createStyle(false), { all: false }));
  // The person who saved the plan has seen it.
  if (flags.plan === undefined)
    await context.confirm(`Apply ${counted(total, 'change')} to ${server.baseUrl}?`);
  return true;
}

function rethrowStale(isSaved: boolean): (thrown: unknown) => never {
  return (thrown) => {
    if (!(thrown instanceof StalePlanError)) throw thrown;
    throw new CliError({
      code: 'stale_plan',
      message: thrown.message,
      hint: isSaved
        ? 'it was changed since; make a new plan with `gateway plan --out`'
        : 'it was changed concurrently; run the command again',
      exit: 'conflict',
      cause: thrown,
    });
  };
}

/** A plan, with the gateway that it is for. */
interface Made extends Planned {
  readonly server: Client;
  readonly followed?: Followed | undefined;
}

/** The saved plan that --plan names, else a new one. */
async function planOf(input: InputOf<'apply'>, config: GatewayConfig): Promise<Made> {
  const { flags, context } = input;
  const server = await context.connect({ near: projectFile(input) });
  const client = toResourceClient(server);
  const path = flags.plan;
  if (path === undefined) {
    const followed = await readFollowed(server, config, context);
    const sources = { config, resources: client, server: server.baseUrl, followed };
    const made = await makePlan(sources, planChoice(flags));
    const { plan, options } = made;
    for (const text of missingModelTexts(options)) context.output.warn(text);
    const [conflict] = slugConflicts(options);
    if (conflict) throw conflict;
    const { desired, actual } = options;
    return { plan, desired, owner: ownerFor(options), actual, client, server, followed };
  }
  if (flags.prune || flags.adopt || flags['write-secret'].length > 0) {
    throw usageError(
      'these flags do not apply to a saved plan',
      'give --prune, --adopt and --write-secret to `gateway plan --out`',
    );
  }
  const present = { server: server.baseUrl, desired: config.desired };
  const saved = await readSavedPlan(path, context.io.cwd, present);
  const organization = await client.list('organization');
  const desired = nameOrganizations(config.desired, { organization });
  const inventories = (await client.inventories?.list()) ?? [];
  const owner = ownerFor({ desired, mode: saved.plan.mode, inventories });
  // Refuse before anything is shown that is no longer so.
  await refuseStale({ plan: saved.plan, desired, owner, client });
  return { plan: saved.plan, desired, owner, client, server };
}

/** Writes a line to stderr for each applied object, on a terminal. */
function progress({ io, output }: CommandContext, total: number): ApplyOptions['onOutcome'] {
  if (io.stderr.isTTY !== true) return undefined;
  let count = 0;
  return (outcome, what) =>
    output.note(`[${++count}/${total}] ${renderOutcome(outcome, what, createStyle(false))}`);
}

/** Writes the objects that are not served yet to stderr, on a terminal. */
function waitProgress({ io, output }: CommandContext): WaitOptions['onWaiting'] {
  if (io.stderr.isTTY !== true) return undefined;
  return (missing) =>
    output.note(
      missing.length === 0
        ? 'everything is served'
        : oneLine(`waiting until ${missing.length} are served: ${missing.join(', ')}`),
    );
}

/** Waits until the changes are served; else gives the reason, so that the report is shown all the same. */
async function awaited(options: WaitOptions): Promise<Failure | undefined> {
  try {
    const missing = await waitUntilServed(options);
    if (missing.length === 0) return undefined;
    const message = `applied, but not served in time: ${missing.join(', ')}`;
    const hint = 'look again with `gateway models list`, or raise --timeout';
    return { code: 'not_served', message, hint, exitCode: EXIT.unknown_outcome.code };
  } catch (thrown) {
    return toFailure(thrown);
  }
}

/**
 * Requires the number that was seen, so that a wrong file does no harm: for many removals always, for
 * irreversible ones where no prompt is possible.
 */
function requirePruneCount(
  { confirmPrune, irreversible, summary }: Plan,
  { given, asks }: { given: number | undefined; asks: boolean },
): void {
  const mustCount = confirmPrune !== null || (irreversible.length > 0 && !asks);
  const isWrong = given !== undefined && summary.remove > 0 && given !== summary.remove;
  if (!isWrong && (!mustCount || given === summary.remove)) return;
  const names = irreversible.map(titleOf);
  const shown = names.length > 5 ? [...names.slice(0, 5), `${names.length - 5} more`] : names;
  const removed = `${counted(summary.remove, 'object')} would be removed`;
  const share = names.length === summary.remove ? '' : `${names.length} of them `;
  throw usageError(
    isWrong
      ? `--confirm-prune ${given}: ${removed}`
      : names.length > 0
        ? `${removed}, ${share}permanently: ${shown.join(', ')}`
        : removed,
    `look at \`gateway plan --prune\`, then add --confirm-prune ${summary.remove}`,
  );
}

/** A replaced object gets another id, so every user of the old id needs an update. */
function requireReplace({ actions }: Plan, isAllowed: boolean): void {
  const replaced = actions.filter(({ action }) => action === 'replace');
  if (isAllowed || replaced.length === 0) return;
  const names = replaced.map(
    ({ forcedBy = [], ...one }) => `${titleOf(one)} (${forcedBy.join(', ')})`,
  );
  throw usageError(
    listed('would be deleted and recreated, with a new id', names),
    'add --allow-replace if nothing depends on the old id',
  );
}

/** New values of keys, only for a terminal: the log of a pipeline must not hold them. */
function issuedLines({ issued }: ApplyReport, { io, format, output }: CommandContext): string[] {
  if (format !== 'text' || issued.length === 0) return [];
  if (io.stdout.isTTY === true) {
    return issued.map(({ identity, value }) => `key ${identity}, shown once: ${value}`);
  }
  const names = issued.map(({ identity }) => identity).join(', ');
  const [first = ''] = issued.map(({ identity }) => identity.slice(identity.indexOf('/') + 1));
  output.warn(
    `new keys, whose values are shown once, only with -o json or on a terminal: ${names}; \`gateway keys rotate ${first}\` prints a new value`,
  );
  return [];
}

/** Everything is applied, yet a later plan would not know of it: the command must run again. */
function withRecord(result: CommandResult, { unrecorded }: ApplyReport): CommandResult {
  if (unrecorded === undefined) return result;
  return {
    ...result,
    failure: {
      code: 'not_recorded',
      message: `applied, but the inventory of the namespace could not be written: ${unrecorded}`,
      hint: 'run the same command again; until then manual deletions are not detected',
      exitCode: EXIT.partial.code,
    },
  };
}

/** The result of a plan without changes, a failure where it leaves out what the files say. */
function withLeftOut(result: CommandResult, plan: Plan): CommandResult {
  const stay = leftOut(plan);
  if (stay.length === 0 || result.failure) return result;
  return {
    ...result,
    failure: {
      code: 'not_possible',
      message: `${counted(stay.length, 'change is', 'changes are')} not possible: ${titles(stay)}`,
      details: stay.map((one) => `  ${titles([one])}: ${oneLine(one.reason)}`).join('\n'),
      hint: 'the other objects are as declared',
      exitCode: EXIT.conflict.code,
    },
  };
}

/** The first of some objects. */
function titles(objects: readonly { kind: string; identity: string }[]): string {
  const named = objects.slice(0, MAX_TITLES).map(titleOf);
  const more = objects.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

function reportResult(report: ApplyReport, context: CommandContext): CommandResult {
  const issued = issuedLines(report, context);
  const text = (style: Style) => [renderReport(report, style), ...issued].join('\n');
  const result: CommandResult = { data: report, text };
  const { applied, failed, blocked, notRun } = report;
  const undone = [...failed, ...blocked, ...notRun];
  if (undone.length === 0) return withRecord(result, report);
  const all = undone.length + applied.length;
  const exit = applied.length > 0 ? EXIT.partial : EXIT.failed;
  return {
    ...result,
    failure: {
      code: applied.length > 0 ? 'partly_applied' : 'not_applied',
      message: `${undone.length} of ${counted(all, 'change')} ${undone.length === 1 ? 'was' : 'were'} not applied: ${titles(undone)}`,
      hint: 'fix the cause and run the same command again to complete the rest',
      exitCode: exit.code,
    },
  };
}
