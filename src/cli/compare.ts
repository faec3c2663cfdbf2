import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { toPlanFile } from '../config/plan-file.ts';
import { toResourceClient } from './admin-resources.ts';
import type { CommandInput, CommandResult } from './command.ts';
import { changesExit, makePlan, planChoice } from './make-plan.ts';
import { projectFile, withProject } from './project.ts';
import { renderPlan } from './render-plan.ts';
import { renderPlanMarkdown } from './render-plan-markdown.ts';

/** What `plan` and `diff` share: reads the files and the gateway, changes nothing there. */
export function compare(
  input: CommandInput,
  { all, out }: { all: boolean; out?: string | undefined },
): Promise<CommandResult> {
  const { flags, context } = input;
  return withProject(input, async (config) => {
    const client = await context.connect({ near: projectFile(input) });
    const sources = { config, resources: toResourceClient(client), server: client.baseUrl };
    const { plan } = await makePlan(sources, planChoice(flags));
    if (out !== undefined) {
      const text = JSON.stringify(toPlanFile(plan, config.desired), undefined, 2);
      await writeFile(resolve(context.io.cwd, out), `${text}\n`, { mode: 0o600 });
      context.output.note(`wrote ${out}; apply it with \`gateway apply --plan ${out}\``);
    }
    return {
      data: plan,
      text: (style) =>
        context.format === 'markdown' ? renderPlanMarkdown(plan) : renderPlan(plan, style, { all }),
      exitCode: changesExit(plan, flags),
    };
  });
}
