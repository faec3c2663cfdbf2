import type { FunctionTool } from '../../protocols/canonical/canonical.ts';

/** A tool of `agent_toolset_20260401`: described here, run by the client on its own machine. */
export interface ClientTool extends FunctionTool {
  /** A call changes nothing. */
  readonly isReadOnly: boolean;
}

const text = (description: string) => ({ type: 'string', description });

const PATH = text('Path of the file.');
const ROOT = text('Directory to search. Default: the working directory.');

/** Requirement sessions.turn.builtin-tools. Their inputs are those that official clients read. */
export const CLIENT_TOOLS: readonly ClientTool[] = [
  define('bash', {
    description: 'Runs a command in a shell that keeps its state between calls.',
    properties: {
      command: text('The command.'),
      restart: { type: 'boolean', description: 'Starts a new shell first.' },
      timeout_ms: { type: 'integer', description: 'Milliseconds that the command may take.' },
    },
    required: [],
    isReadOnly: false,
  }),
  define('edit', {
    description:
      'Replaces a text in a file. It must occur exactly once unless `replace_all` is set.',
    properties: {
      file_path: PATH,
      old_string: text('The text to replace.'),
      new_string: text('What takes its place.'),
      replace_all: { type: 'boolean', description: 'Replaces every occurrence.' },
    },
    required: ['file_path', 'old_string', 'new_string'],
    isReadOnly: false,
  }),
  define('read', {
    description: 'Reads a file.',
    properties: {
      file_path: PATH,
      view_range: {
        type: 'array',
        items: { type: 'integer' },
        minItems: 2,
        maxItems: 2,
        description: 'First and last line, counted from 1.',
      },
    },
    required: ['file_path'],
    isReadOnly: true,
  }),
  define('write', {
    description: 'Writes a file, in place of what it held.',
    properties: { file_path: PATH, content: text('All that the file shall hold.') },
    required: ['file_path', 'content'],
    isReadOnly: false,
  }),
  define('glob', {
    description: 'Finds files by a pattern of their path, such as `**/*.ts`.',
    properties: { pattern: text('The pattern.'), path: ROOT },
    required: ['pattern'],
    isReadOnly: true,
  }),
  define('grep', {
    description: 'Finds lines of files by a regular expression.',
    properties: { pattern: text('The regular expression.'), path: ROOT },
    required: ['pattern'],
    isReadOnly: true,
  }),
  define('web_fetch', {
    description: 'Fetches a page of the web.',
    properties: { url: text('Address of the page.') },
    required: ['url'],
    isReadOnly: true,
  }),
  define('web_search', {
    description: 'Searches the web.',
    properties: { query: text('What to search for.') },
    required: ['query'],
    isReadOnly: true,
  }),
];

interface Definition extends Pick<ClientTool, 'isReadOnly'> {
  readonly description: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
}

function define(name: string, { description, isReadOnly, ...shape }: Definition): ClientTool {
  return {
    type: 'function',
    name,
    description,
    parameters: { type: 'object', ...shape },
    isReadOnly,
  };
}
