import type { FlagSpec } from '../command.ts';
import type { ResolvedFlags } from './flags.ts';

/** Flags that every command takes, before and after its name. */
export const GLOBAL_FLAGS = [
  {
    name: 'server',
    type: 'string',
    value: 'URL',
    description:
      'Address of the gateway (default: from the context, then from the nearest .gateway directory)',
  },
  {
    name: 'context',
    type: 'string',
    value: 'NAME',
    description:
      'Server and key that `gateway login` stored; local: the nearest .gateway directory',
  },
  {
    name: 'api-key-file',
    type: 'string',
    value: 'FILE',
    description: 'File that holds the API key; must not be readable by others',
  },
  {
    name: 'output',
    short: 'o',
    type: 'string',
    value: 'FORMAT',
    choices: ['text', 'json'],
    default: 'text',
    description:
      'Output format; list and get also take yaml, name and jsonpath=EXPR, lists also wide',
  },
  { name: 'json', type: 'boolean', description: 'Same as --output json' },
  { name: 'no-color', type: 'boolean', description: 'No color, even on a terminal' },
  {
    name: 'quiet',
    short: 'q',
    type: 'boolean',
    description: 'No progress on stderr; lists print only names',
  },
  {
    name: 'debug',
    type: 'boolean',
    description: 'Log HTTP calls and where settings come from',
  },
  {
    name: 'no-env-file',
    type: 'boolean',
    description: 'Do not read the .env next to the configuration',
  },
  { name: 'yes', short: 'y', type: 'boolean', description: 'Answer every question with yes' },
  {
    name: 'timeout',
    type: 'duration',
    value: 'DURATION',
    default: '60s',
    min: 1,
    description:
      'Time of the whole command, exit 8 at its end; without it, calls are given up after 60s. The variable ends no conversation and nothing that is followed',
  },
] as const satisfies readonly FlagSpec[];

/** Their values for one command line. */
export type GlobalFlags = ResolvedFlags<typeof GLOBAL_FLAGS>;
