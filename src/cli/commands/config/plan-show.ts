import { changesExit } from '../../project/make-plan.ts';
import { MORE, renderPlan } from '../../output/render-plan.ts';
import { renderPlanMarkdown } from '../../output/render-plan-markdown.ts';
import { readSavedPlan } from '../../project/saved-plan.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'plan show'> = async ({ args, flags, context }) => {
  const { plan } = await readSavedPlan(args.file, context.io.cwd);
  return {
    data: plan,
    text: (style) =>
      context.format === 'markdown'
        ? renderPlanMarkdown(plan)
        : renderPlan(plan, style, { all: flags.all, more: MORE }),
    exitCode: changesExit(plan, flags),
  };
};
