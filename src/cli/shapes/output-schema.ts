import { schemaOf } from '../command.ts';
import type { CommandSpec } from '../command.ts';
import { anything, orNull, record, text, texts } from './shape.ts';
import type { Shape } from './shape.ts';
import { DATA_SHAPES } from './shapes.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const ERROR = {
  ...record({
    code: text,
    message: text,
    hint: orNull(text),
    status: orNull({ type: 'integer' }),
  }),
  additionalProperties: false,
};

/**
 * The JSON Schema (2020-12) of the one document that a command prints with `-o json`, also on failure
 * (requirement cli.output.envelope). Members may be added to `data`; existing ones stay.
 */
export function outputSchema(command: CommandSpec): Shape {
  const name = schemaOf(command);
  const data = command.output ?? DATA_SHAPES[command.name] ?? anything;
  return {
    $schema: DIALECT,
    $id: name,
    title: `gateway ${command.name} -o json`,
    ...record({
      schema: { const: name },
      ok: { type: 'boolean' },
      data: orNull(data),
      warnings: texts,
      error: orNull(ERROR),
    }),
    additionalProperties: false,
    anyOf: [
      { properties: { ok: { const: true }, error: { type: 'null' } } },
      { properties: { ok: { const: false }, error: { type: 'object' } } },
    ],
  };
}

/** The JSON Schema of one line of a command that streams with `-o json` (cli.output.ndjson). */
export function lineSchema(): Shape {
  const version = record({ type: { const: 'version' }, version: { const: 1 } });
  const event = record({ type: { const: 'event' }, event: anything });
  const end = record({ type: { const: 'end' }, reason: text }, { error: ERROR });
  const lines = [version, event, end].map((line) => ({ ...line, additionalProperties: false }));
  return { $schema: DIALECT, $id: 'gateway.stream/v1', title: 'A line of a stream', oneOf: lines };
}

/** Schema for a command line for which no command was found. */
export function unknownCommandSchema(): Shape {
  return {
    $schema: DIALECT,
    $id: 'gateway/v1',
    title: 'gateway, when the command is unknown',
    ...record({
      schema: { const: 'gateway/v1' },
      ok: { const: false },
      data: { type: 'null' },
      warnings: texts,
      error: ERROR,
    }),
    additionalProperties: false,
  };
}
