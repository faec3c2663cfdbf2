import { titleOf } from '../../../config/objects/kinds.ts';
import { type ActualState, findDeclared } from '../../../config/actual/actual.ts';
import { apply, readActual } from '../../../config/apply/apply.ts';
import type { DesiredObject } from '../../../config/objects/desired.ts';
import {
  labelsOf,
  type Owner,
  ownershipOf,
  PROTECTED_LABEL,
} from '../../../config/actual/ownership.ts';
import { leftOut } from '../../../config/plan/fixed.ts';
import { kindsThatName } from '../../../config/plan/keep-used.ts';
import { ownerFor, plan, writtenKinds } from '../../../config/plan/plan.ts';
import { counted } from '../../../core/counted.ts';
import { toResourceClient } from '../../resources/admin-resources.ts';
import type { Failure } from '../../command.ts';
import { CliError } from '../../cli-error.ts';
import { alreadyGone, withGone } from '../../resources/already-gone.ts';
import { EXIT } from '../../exit-codes.ts';
import { projectFile, withSelected } from '../../project/project.ts';
import { requireRights } from '../../project/require-rights.ts';
import { renderPlan, renderReport } from '../../output/render-plan.ts';
import { createStyle } from '../../output/style.ts';
import type { RunOf } from '../../commands.ts';

/** Removes what the files declare and their namespace owns, as `apply --prune` would for empty files. */
export const run: RunOf<'delete'> = (input) =>
  withSelected(input, async ({ desired: declared }) => {
    const { flags, context } = input;
    const client = await context.connect({ near: projectFile(input) });
    const resources = toResourceClient(client);
    const desired = { ...declared, objects: [], moved: [] };
    const managed = new Set([...declared.managed, ...kindsThatName(declared.managed)]);
    const actual = await readActual(resources, { ...declared, managed });
    const gone = alreadyGone(declared, actual);
    const removable = new Set(declared.objects.flatMap((object) => findDeclared(object, actual)));
    const inventories = (await resources.inventories?.list()) ?? [];
    const owner = ownerFor({ desired, mode: 'prune', inventories });
    refuseProtected(declared.objects, { actual, owner });
    const target = { server: client.baseUrl, organization: '*' };
    const planned = plan({ desired, actual, mode: 'prune', target, removable, inventories });
    const reason = 'declared in the files to delete';
    const actions = planned.actions.map((action) => ({ ...action, reason }));
    const made = { ...planned, actions };
    if (made.summary.total === 0 || flags['dry-run']) {
      const stay = flags['dry-run'] ? [] : leftOut(made);
      return {
        data: { ...made, gone },
        text: (style) => withGone(gone, renderPlan(made, style, { all: false })),
        ...(stay.length > 0 && { failure: stillUsed(stay.length) }),
      };
    }
    await requireRights(client, { kinds: writtenKinds(made), signal: context.signal });
    context.output.note(`target: ${client.baseUrl} (all organizations)`);
    context.output.note(renderPlan(made, createStyle(false), { all: false }));
    await context.confirm(
      `Remove ${counted(made.summary.total, 'object')} from ${client.baseUrl}?`,
    );
    const report = await apply({
      plan: made,
      desired,
      owner,
      client: resources,
      secrets: new Map(),
      signal: context.signal,
    });
    const missing = report.failed.length + report.notRun.length + report.blocked.length;
    const all = counted(missing + report.applied.length, 'object');
    return {
      data: { ...report, gone },
      text: (style) => withGone(gone, renderReport(report, style)),
      ...(missing > 0 && {
        failure: {
          code: 'partly_removed',
          message: `${missing} of ${all} ${missing === 1 ? 'was' : 'were'} not removed`,
          exitCode: report.applied.length > 0 ? EXIT.partial.code : EXIT.failed.code,
        },
      }),
    };
  });

function stillUsed(count: number): Failure {
  return {
    code: 'in_use',
    message: `${counted(count, 'object is', 'objects are')} still used, so nothing was removed`,
    hint: 'remove what names them first, or name it in the same files',
    exitCode: EXIT.conflict.code,
  };
}

/** Nothing goes as long as the files or the gateway protect an object that would. */
function refuseProtected(
  objects: readonly DesiredObject[],
  { actual, owner }: { actual: ActualState; owner: Owner },
): void {
  const kept = objects.filter((object) =>
    findDeclared(object, actual).some(
      (view) =>
        ownershipOf(view, owner) === 'own' &&
        (object.lifecycle.protected === true || labelsOf(view)[PROTECTED_LABEL] === 'true'),
    ),
  );
  if (kept.length === 0) return;
  const names = kept.map(titleOf);
  throw new CliError({
    code: 'protected',
    message: `protected, so nothing was removed: ${names.join(', ')}`,
    hint: 'leave them out with --exclude, or remove `lifecycle: {protected: true}` and apply first',
    exit: 'conflict',
  });
}
