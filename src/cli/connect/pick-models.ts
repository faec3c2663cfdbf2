import type { Client } from '../../client/create-client.ts';
import { CliError } from '../cli-error.ts';
import type { OpenProvider } from '../../client/models.ts';
import type { CommandContext } from '../context.ts';
import type { Task, Tool, ToolSetup } from './tool.ts';

/** A list in a tool's settings is for people to choose from. */
const MAX_LISTED = 100;

/** Names of the models that tools of a protocol are made for. */
const FAMILIES: Readonly<Partial<Record<Tool['protocol'], RegExp>>> = {
  messages: /claude/,
  responses: /gpt|codex/,
  'generate-content': /gemini/,
};

export type PickedModels = Pick<ToolSetup, 'model' | 'models' | Task>;

/**
 * The model that was named, else the first one that answers in the tool's protocol, and all of those:
 * models that the tool is made for before others, scripted ones last. Those of tasks are as they were named.
 * Throws `no_model` (exit 1) when there is none.
 */
export async function pickModels(
  tool: Tool,
  {
    client,
    context,
    model: named,
    background,
    plan,
  }: { client: Client; context: CommandContext } & Partial<Pick<ToolSetup, 'model' | Task>>,
): Promise<PickedModels> {
  const { models: rows, open } = await client.models.table({}, context.signal);
  const fitting = rows
    .filter(({ protocols }) => protocols === undefined || protocols.includes(tool.protocol))
    .map(({ id }) => id)
    .toSorted((one, other) => rankOf(one, tool) - rankOf(other, tool));
  const unlisted = open.filter(({ provider, listed }) => listed === 0 && !isScripted(provider));
  const isScriptedOnly = fitting.every((id) => isScripted(id));
  if (named === undefined && isScriptedOnly && unlisted.length > 0)
    throw onlyScripted(tool, unlisted);
  const model = named ?? fitting[0];
  if (model === undefined) throw noModel(tool, rows.length);
  const given = [named, background, plan].filter((one) => one !== undefined);
  for (const name of new Set(given)) {
    const isKnown =
      rows.some(({ id }) => id === name) ||
      unlisted.some(({ provider }) => name.startsWith(`${provider}/`));
    if (!isKnown)
      context.output.warn(`the gateway lists no model ${name}; \`gateway models list\` shows them`);
  }
  const models = [...new Set([model, ...given, ...fitting])].slice(0, MAX_LISTED);
  return { model, models, ...(background && { background }), ...(plan && { plan }) };
}

function rankOf(id: string, { protocol }: Tool): number {
  if (isScripted(id)) return 2;
  return FAMILIES[protocol]?.test(id) ? 0 : 1;
}

/** True for models that answer by a script, and for the provider that serves them. */
function isScripted(id: string): boolean {
  return /^mock(\/|$)/.test(id);
}

function onlyScripted({ name }: Tool, [first]: readonly OpenProvider[]): CliError {
  const provider = first?.provider ?? '';
  const cause = first?.problem ? `: ${first.problem}` : ' so far';
  return new CliError({
    code: 'no_model',
    message: `the models of ${provider} could not be listed${cause}; without them only scripted models are there`,
    hint: `name one: gateway connect ${name} --model ${provider}/NAME`,
  });
}

function noModel({ title, protocol }: Tool, listed: number): CliError {
  return new CliError({
    code: 'no_model',
    message:
      listed === 0
        ? 'the key may use no model'
        : `none of ${listed} models answers ${title}, which asks in ${protocol}`,
    hint: 'gateway models list shows what there is; declare a model, or name one with --model',
  });
}
