import { expect, it } from 'vitest';
import { CLIENT_TOOLS } from '../../../src/runtime/tools/client-toolset.ts';
import { verifies } from '../../requirements.ts';

interface Schema {
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required: readonly string[];
}

it(verifies('sessions.turn.builtin-tools', 'names the inputs that official clients read'), () => {
  const inputs = CLIENT_TOOLS.map(({ name, isReadOnly, parameters }) => {
    const { properties, required } = parameters as Schema;
    const types = Object.entries(properties).map(([member, { type }]) => [member, type]);
    return [name, { isReadOnly, required, ...Object.fromEntries(types) }];
  });
  const search = { isReadOnly: true, required: ['pattern'], pattern: 'string', path: 'string' };
  expect(Object.fromEntries(inputs)).toEqual({
    bash: {
      isReadOnly: false,
      required: [],
      command: 'string',
      restart: 'boolean',
      timeout_ms: 'integer',
    },
    edit: {
      isReadOnly: false,
      required: ['file_path', 'old_string', 'new_string'],
      file_path: 'string',
      old_string: 'string',
      new_string: 'string',
      replace_all: 'boolean',
    },
    read: {
      isReadOnly: true,
      required: ['file_path'],
      file_path: 'string',
      view_range: 'array',
    },
    write: {
      isReadOnly: false,
      required: ['file_path', 'content'],
      file_path: 'string',
      content: 'string',
    },
    glob: search,
    grep: search,
    web_fetch: { isReadOnly: true, required: ['url'], url: 'string' },
    web_search: { isReadOnly: true, required: ['query'], query: 'string' },
  });
  const read = CLIENT_TOOLS.find(({ name }) => name === 'read')?.parameters as Schema;
  const range = { items: { type: 'integer' }, minItems: 2, maxItems: 2 };
  expect(read.properties['view_range']).toMatchObject(range);
});
