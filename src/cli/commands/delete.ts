import { findActual } from '../../config/actual.ts';
import { apply, readActual } from '../../config/apply.ts';
import { ownerFor, plan } from '../../config/plan.ts';
import { toResourceClient } from '../admin-resources.ts';
import { alreadyGone, withGone } from '../already-gone.ts';
import type { CommandRun } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { projectFile, withProject } from '../project.ts';
import { renderPlan, renderReport } from '../render-plan.ts';
import { createStyle } from '../style.ts';

/** Removes what the files declare and their namespace owns, as `apply --prune` would for empty files. */
export const run: CommandRun = (input) =>
  withProject(input, async ({ desired: declared }) => {
    const { flags, context } = input;
    const client = await context.connect({ near: projectFile(input) });
    const resources = toResourceClient(client);
    const desired = { ...declared, objects: [], moved: [] };
    const actual = await readActual(resources, declared);
    const gone = alreadyGone(declared, actual);
    const removable = new Set(
      declared.objects.flatMap(({ kind, identity }) => findActual(kind, identity, actual)),
    );
    const target = { server: client.baseUrl, organization: '*' };
    const made = plan({ desired, actual, mode: 'prune', target, removable });
    if (made.summary.total === 0 || flags.on('dry-run')) {
      return {
        data: { ...made, gone },
        text: (style) => withGone(gone, renderPlan(made, style, { all: false })),
      };
    }
    context.output.note(`target: ${client.baseUrl} (all organizations)`);
    context.output.note(renderPlan(made, createStyle(false), { all: false }));
    await context.confirm(`Remove ${made.summary.total} objects from ${client.baseUrl}?`);
    const report = await apply({
      plan: made,
      desired,
      owner: ownerFor({ desired, mode: 'prune' }),
      client: resources,
      secrets: new Map(),
      signal: context.signal,
    });
    const missing = report.failed.length + report.notRun.length;
    return {
      data: { ...report, gone },
      text: (style) => withGone(gone, renderReport(report, style)),
      ...(missing > 0 && {
        failure: {
          code: 'partly_removed',
          message: `${missing} of ${made.summary.total} objects were not removed`,
          exitCode: report.applied.length > 0 ? EXIT.partial.code : EXIT.failed.code,
        },
      }),
    };
  });
