import type { ArgSpec, FlagSpec } from '../command.ts';

export const ID: ArgSpec = { name: 'id', required: true, description: 'Id or name' };

export const IGNORE_NOT_FOUND: FlagSpec = {
  name: 'ignore-not-found',
  type: 'boolean',
  description: 'Exit 0 when it does not exist',
};

export const ORGANIZATION: FlagSpec = {
  name: 'organization',
  type: 'string',
  value: 'NAME',
  env: 'GATEWAY_ORGANIZATION',
  description: 'Id or name of the organization',
};

/** Where the value of a secret may come from; never from the command line, which others can see. */
export const VALUE_FLAGS: readonly FlagSpec[] = [
  { name: 'value-file', type: 'string', value: 'FILE', description: 'File that holds the value' },
  { name: 'value-stdin', type: 'boolean', description: 'Read the value from stdin' },
  {
    name: 'value-env',
    type: 'string',
    value: 'NAME',
    description: 'Environment variable that holds the value',
  },
];
