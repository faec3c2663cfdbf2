import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { toPlanFile } from '../../config/plan/plan-file.ts';
import { toShellWord } from '../../core/shell-word.ts';
import { toResourceClient } from '../resources/admin-resources.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import type { Plan } from '../../config/plan/plan.ts';
import type { CommandResult } from '../command.ts';
import type { InputOf } from '../commands.ts';
import {
  changesExit,
  makePlan,
  planChoice,
  missingModelTexts,
  slugConflicts,
} from '../project/make-plan.ts';
import { followsItself, leftByReload, readFollowed, withFollowNote } from '../project/followed.ts';
import { projectFile, withSelected } from '../project/project.ts';
import { type PlanRendering, renderPlan } from '../output/render-plan.ts';
import type { Style } from '../output/style.ts';
import { renderPlanMarkdown } from '../output/render-plan-markdown.ts';

/** Reads the files and the gateway for `plan` and `diff`; changes nothing there. */
export function compare(
  input: InputOf<'diff'>,
  { out, ...shown }: PlanRendering & { out?: string | undefined },
): Promise<CommandResult> {
  const { flags, context } = input;
  const compared = async (config: GatewayConfig): Promise<CommandResult> => {
    const client = await context.connect({ near: projectFile(input) });
    const followed = await readFollowed(client, config, context);
    const resources = toResourceClient(client);
    const sources = { config, resources, server: client.baseUrl, followed };
    const made = await makePlan(sources, planChoice(flags));
    const { plan, options, ofCommands } = made;
    for (const text of [...ofCommands, ...missingModelTexts(options)]) context.output.warn(text);
    for (const { message, hint } of slugConflicts(options)) {
      context.output.warn(`${message}; ${hint ?? ''}`);
    }
    const isFollowed = followed?.isSame === true;
    for (const text of isFollowed ? leftByReload(plan, options) : []) context.output.warn(text);
    if (out !== undefined) {
      if (isFollowed) throw followsItself(plan, followed);
      const text = JSON.stringify(toPlanFile(plan, config.desired), undefined, 2);
      await writeFile(resolve(context.io.cwd, out), `${text}\n`, { mode: 0o600 });
      context.output.note(`wrote ${out}; apply it with \`${applyCommand(plan, out, input)}\``);
    }
    const render = (style: Style): string =>
      context.format === 'markdown' ? renderPlanMarkdown(plan) : renderPlan(plan, style, shown);
    return {
      data: { ...plan, ...(isFollowed && { follows: followed.files }) },
      text: (style) => withFollowNote(render(style), plan, followed),
      exitCode: changesExit(plan, flags),
    };
  };
  return withSelected(input, compared, { mayBeGone: flags.prune });
}

const CHOSEN = ['only', 'exclude', 'selector'] as const;

/** The command that applies a saved plan, as a shell takes it. */
function applyCommand(plan: Plan, path: string, { flags, context }: InputOf<'diff'>): string {
  const { actions, confirmPrune, irreversible, summary } = plan;
  const isCounted = confirmPrune !== null || irreversible.length > 0;
  const named = (name: 'file' | 'overlay' | (typeof CHOSEN)[number]) =>
    flags[name].flatMap((one) => [`--${name}`, one]);
  const { globals } = context;
  const { layer } = globals.origin('server') ?? {};
  const server = layer === 'flag' ? globals.values.server : undefined;
  return [
    'gateway apply',
    ...['--plan', path, ...named('file'), ...named('overlay')].map(toShellWord),
    ...(flags.recursive ? ['--recursive'] : []),
    ...CHOSEN.flatMap(named).map(toShellWord),
    ...(server === undefined ? [] : ['--server', toShellWord(server)]),
    ...flags['allow-exec'].map((one) => `--allow-exec ${toShellWord(one)}`),
    ...(flags['unknown-fields'] === 'warn' ? ['--unknown-fields warn'] : []),
    ...(actions.some(({ action }) => action === 'replace') ? ['--allow-replace'] : []),
    ...(isCounted ? [`--confirm-prune ${summary.remove}`] : []),
  ].join(' ');
}
