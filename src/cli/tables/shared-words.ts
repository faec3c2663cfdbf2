import type { ArgSpec, FlagSpec } from '../command.ts';

export const ID = {
  name: 'id',
  required: true,
  description: 'Id or name',
} as const satisfies ArgSpec;

export const IGNORE_NOT_FOUND = {
  name: 'ignore-not-found',
  type: 'boolean',
  description: 'Exit 0 when it does not exist',
} as const satisfies FlagSpec;

export const ORGANIZATION = {
  name: 'organization',
  type: 'string',
  value: 'NAME',
  env: 'GATEWAY_ORGANIZATION',
  description: 'Id or name of the organization',
} as const satisfies FlagSpec;

/** The files of the gateway, for commands that run it or use its data on this machine. */
export const CONFIG = {
  name: 'config',
  short: 'c',
  also: ['file', 'f'],
  type: 'string',
  value: 'PATH',
  env: 'GATEWAY_CONFIG',
  repeatable: true,
  description: 'File or directory to load (default: gateway.yaml)',
} as const satisfies FlagSpec;

/** Commands that run those of secrets. */
export const ALLOW_EXEC = {
  name: 'allow-exec',
  type: 'string',
  value: 'COMMAND',
  env: 'GATEWAY_ALLOW_EXEC',
  repeatable: true,
  description: 'Run commands of secrets that begin with these words; all: each',
} as const satisfies FlagSpec;

export const FROM = {
  name: 'from',
  type: 'string',
  value: 'TIME',
  description: 'Earliest time, such as 2026-11-21 or 2026-11-21T10:00:00Z',
} as const satisfies FlagSpec;

export const SINCE = {
  name: 'since',
  type: 'duration',
  value: 'DURATION',
  excludes: ['from'],
  description: 'Earliest, as an age such as 30m, 24h or 7d, instead of --from',
} as const satisfies FlagSpec;

/** Flags for the range of time to show. */
export const RANGE = [
  FROM,
  { name: 'to', type: 'string', value: 'TIME', description: 'Latest time, in the same form' },
  SINCE,
] as const satisfies readonly FlagSpec[];

export const LIMIT = {
  name: 'limit',
  short: 'n',
  type: 'integer',
  value: 'N',
  min: 1,
  default: 20,
  description: 'Maximum number of results',
} as const satisfies FlagSpec;

/**
 * Flags that give the value of a secret; never the value itself, since others can see a command
 * line.
 */
export const VALUE_FLAGS = [
  { name: 'value-file', type: 'string', value: 'FILE', description: 'File that holds the value' },
  { name: 'value-stdin', type: 'boolean', description: 'Read the value from stdin' },
  {
    name: 'value-env',
    type: 'string',
    value: 'NAME',
    description: 'Environment variable that holds the value',
  },
] as const satisfies readonly FlagSpec[];

/** Formats of --output that show the written object, or in YAML its declaration. */
export const OBJECT_FORMATS = ['yaml', 'name', 'jsonpath=EXPR'] as const;

export const FORCE = {
  name: 'force',
  type: 'boolean',
  description: 'Also change an object owned by a namespace',
} as const satisfies FlagSpec;
