import { usageError } from '../../cli-error.ts';
import type { CommandResult } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import type { Style } from '../../output/style.ts';
import { renderTable } from '../../output/table.ts';
import { pickModels } from '../../connect/pick-models.ts';
import { contentOf, renderRecipe, shownPath } from '../../connect/render-recipe.ts';
import { findToolKey, makeToolKey } from '../../connect/tool-key.ts';
import { TASKS } from '../../connect/tool.ts';
import type { Tool, ToolRecipe, ToolSetup } from '../../connect/tool.ts';
import { findTool, TOOLS } from '../../connect/tools.ts';
import type { InputOf, RunOf } from '../../commands.ts';

const ACTIONS = ['write', 'undo', 'run', 'print-key'] as const;

/** Prints how a tool is made to use the gateway; the flags do it. */
export const run: RunOf<'connect'> = async (input) => {
  const { args, flags } = input;
  if (args.tool === undefined) return listTools();
  const tool = findTool(args.tool);
  await refuseImpossible(tool, input);
  if (flags.undo) return undo(tool, input);
  if (flags['print-key']) return printKey(tool, input);
  const setup = await readSetup(tool, input);
  const recipe = setup.key === '' ? recipeWithoutKey(tool, setup) : tool.recipe(setup);
  if (flags.run) return start(tool, recipe, input);
  if (flags.write) return write(tool, recipe, input);
  return {
    data: describe(tool, setup, recipe),
    text: (style) => renderRecipe(tool, recipe, style),
  };
};

/** Refuses what cannot be done before a key is made for nothing. */
async function refuseImpossible(tool: Tool, input: InputOf<'connect'>): Promise<void> {
  const { flags, rest, context } = input;
  const { name, title, program } = tool;
  const hint = `gateway connect ${name} shows what to do`;
  if (rest.length > 0 && !flags.run)
    throw usageError('only --run takes words for the tool', `gateway connect ${name} --run -- …`);
  if (flags.run && program === undefined)
    throw usageError(`${title} is not started from a terminal`, hint);
  const task = TASKS.find((one) => flags[one] !== undefined && !tool.tasks?.includes(one));
  if (task !== undefined) {
    const knowing = TOOLS.filter(({ tasks }) => tasks?.includes(task)).map((one) => one.name);
    throw usageError(
      `${title} has no model of its own for --${task}`,
      `these have: ${knowing.join(', ')}`,
    );
  }
  const { files } = tool.recipe({ server: '', key: '', model: '', models: [] });
  if (!flags.write) return;
  if (files === undefined) throw usageError(`${title} has no file to write`, hint);
  const { checkToolFiles } = await import('../../connect/tool-files.ts');
  await checkToolFiles(files, context.io);
}

function listTools(): CommandResult {
  const data = TOOLS.map(({ name, title, summary, protocol }) => ({
    name,
    title,
    summary,
    protocol,
  }));
  const columns = [
    { title: 'TOOL', value: ({ name }: Tool) => name },
    { title: 'NAME', value: ({ title }: Tool) => title },
    { title: 'WHAT', value: ({ summary }: Tool) => summary, isCut: true },
    { title: 'PROTOCOL', value: ({ protocol }: Tool) => protocol },
  ];
  const text = async (style: Style) =>
    `${await renderTable(TOOLS, columns, { style, empty: '' })}\n\ngateway connect TOOL shows its configuration`;
  return { data: { tools: data }, text };
}

async function printKey(tool: Tool, { context }: InputOf<'connect'>): Promise<CommandResult> {
  const { key } = await openTool(tool, context, true);
  return { data: { tool: tool.name, key }, text: key };
}

/** Shells and files name the command that makes the key at first and finds it again later. */
function recipeWithoutKey(tool: Tool, setup: ToolSetup): ToolRecipe {
  const command = `gateway connect ${tool.name} --print-key`;
  const inShell = tool.recipe({ ...setup, key: `$(${command})` });
  const inFile = tool.recipe({ ...setup, key: `<the value that ${command} prints>` });
  return { ...inFile, ...(inShell.env && { env: inShell.env }) };
}

/** The key is empty where there is none yet and none is needed. */
async function readSetup(tool: Tool, { flags, context }: InputOf<'connect'>): Promise<ToolSetup> {
  const needsKey = ACTIONS.some((name) => flags[name]) || flags['create-key'];
  const { client, server, key } = await openTool(tool, context, needsKey);
  const { model, background, plan } = flags;
  const picked = await pickModels(tool, { client, context, model, background, plan });
  return { server: server.replace(/\/$/, ''), key, ...picked };
}

async function openTool(tool: Tool, context: CommandContext, needsKey: boolean) {
  const connection = await context.connection();
  const client = await context.connectTo(connection);
  const options = { context, connection, client };
  const key =
    (await findToolKey(tool, options)) ?? (needsKey ? await makeToolKey(tool, options) : '');
  return { client, server: connection.server, key };
}

function describe(
  tool: Tool,
  setup: ToolSetup,
  { env = {}, args = [], files = [], steps = [] }: ToolRecipe,
) {
  const { name, title, protocol } = tool;
  return {
    tool: name,
    title,
    protocol,
    ...setup,
    models: [...setup.models],
    env,
    args: [...args],
    files: files.map((file) => ({
      path: shownPath(file),
      format: file.format,
      content: contentOf(file),
    })),
    steps: [...steps],
  };
}

async function write(
  tool: Tool,
  { files = [] }: ToolRecipe,
  { context }: InputOf<'connect'>,
): Promise<CommandResult> {
  const { writeToolFiles } = await import('../../connect/tool-files.ts');
  const written = await writeToolFiles(tool.name, files, context.io);
  const lines = written.map(({ file, backup }) =>
    backup === null ? file : `${file}, as it was in ${backup}`,
  );
  return {
    data: { tool: tool.name, files: written },
    text: [
      `${tool.title} uses this gateway, by`,
      ...lines.map((line) => `  ${line}`),
      `gateway connect ${tool.name} --undo takes it back`,
    ].join('\n'),
  };
}

async function undo(tool: Tool, { context }: InputOf<'connect'>): Promise<CommandResult> {
  const { findWritten, takeBack } = await import('../../connect/tool-files.ts');
  const written = await findWritten(tool.name, context.io);
  const changed = written.filter(({ isChanged }) => isChanged).map(({ file }) => file);
  if (changed.length > 0)
    await context.confirm(`${changed.join(' and ')} changed since; lose these changes?`);
  await takeBack(tool.name, context.io);
  const restored = written.map(({ file }) => file);
  return {
    data: { tool: tool.name, restored },
    text: restored.map((file) => `${file} is as it was before`).join('\n'),
  };
}

async function start(
  tool: Tool,
  recipe: ToolRecipe,
  input: InputOf<'connect'>,
): Promise<CommandResult> {
  const { runTool } = await import('../../connect/run-tool.ts');
  const exitCode = await runTool(tool, recipe, { io: input.context.io, words: input.rest });
  return { data: { tool: tool.name }, streamed: true, exitCode };
}
