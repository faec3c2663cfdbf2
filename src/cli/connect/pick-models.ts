import type { Client } from '../../client/create-client.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import type { Tool } from './tool.ts';

/** A list in a tool's settings is for people to choose from. */
const MAX_LISTED = 100;

export interface PickedModels {
  readonly model: string;
  readonly models: readonly string[];
}

/**
 * The model that was named, else the first one that answers in the tool's protocol, and all of those.
 * Throws `no_model` (exit 1) when there is none.
 */
export async function pickModels(
  tool: Tool,
  {
    client,
    context,
    named,
  }: { client: Client; context: CommandContext; named?: string | undefined },
): Promise<PickedModels> {
  const rows = await client.models.table({}, context.signal);
  const fitting = rows
    .filter(({ protocols }) => protocols === undefined || protocols.includes(tool.protocol))
    .map(({ id }) => id);
  const model = named ?? fitting[0];
  if (model === undefined) throw noModel(tool, rows.length);
  if (named !== undefined && !rows.some(({ id }) => id === named))
    context.output.warn(`the gateway lists no model ${named}; \`gateway models list\` shows them`);
  return { model, models: [...new Set([model, ...fitting])].slice(0, MAX_LISTED) };
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
