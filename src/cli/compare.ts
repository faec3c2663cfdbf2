import { toResourceClient } from './admin-resources.ts';
import type { CommandInput, CommandResult } from './command.ts';
import { changesExit, makePlan, planChoice } from './make-plan.ts';
import { projectFile, withProject } from './project.ts';
import { renderPlan } from './render-plan.ts';

/** What `plan` and `diff` share: reads the files and the gateway, changes nothing. */
export function compare(input: CommandInput, { all }: { all: boolean }): Promise<CommandResult> {
  const { flags, context } = input;
  return withProject(input, async (config) => {
    const client = await context.connect({ near: projectFile(input) });
    const sources = { config, resources: toResourceClient(client), server: client.baseUrl };
    const { plan } = await makePlan(sources, planChoice(flags));
    return {
      data: plan,
      text: (style) => renderPlan(plan, style, { all }),
      exitCode: changesExit(plan, flags),
    };
  });
}
