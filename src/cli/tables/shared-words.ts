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
