import { usageError } from '../../cli-error.ts';
import { findCommand } from '../../command.ts';
import { allCommands } from '../../all-commands.ts';
import { COMMANDS, type RunOf } from '../../commands.ts';
import { lineSchema, outputSchema, unknownCommandSchema } from '../../shapes/output-schema.ts';

export const run: RunOf<'schema output'> = async ({ rest, context }) => {
  if (rest.length === 0) return { data: everySchema() };
  if (rest.length === 1 && rest[0] === 'stream') return { data: lineSchema() };
  const found = findCommand(await allCommands(context.io.env), rest);
  if (found?.used === rest.length && found.command.load !== undefined)
    return { data: outputSchema(found.command) };
  throw usageError(
    `there is no command "${rest.join(' ')}"`,
    'the words of a command, like `gateway schema output keys list`, or stream',
  );
};

/** Schemas by the value of `schema` in the document. */
function everySchema(): object {
  const commands = COMMANDS.filter(({ load }) => load !== undefined);
  const all = [...commands.map(outputSchema), unknownCommandSchema(), lineSchema()];
  return Object.fromEntries(all.map((schema) => [schema['$id'], schema]));
}
