import type { FlagSpec } from '../command.ts';

export const FILE = {
  name: 'file',
  short: 'f',
  type: 'string',
  value: 'PATH',
  env: 'GATEWAY_CONFIG',
  repeatable: true,
  description: 'File, directory, or - for stdin (default: gateway.yaml)',
} as const satisfies FlagSpec;

const RECURSIVE = {
  name: 'recursive',
  short: 'R',
  type: 'boolean',
  description: 'Read subdirectories, too',
} as const satisfies FlagSpec;

const OVERLAY = {
  name: 'overlay',
  type: 'string',
  value: 'PATH',
  env: 'GATEWAY_OVERLAY',
  repeatable: true,
  description: 'Overlay file or directory, merged by kind and name; null removes',
} as const satisfies FlagSpec;

const UNKNOWN_FIELDS = {
  name: 'unknown-fields',
  type: 'string',
  value: 'MODE',
  choices: ['error', 'warn'],
  default: 'error',
  description: 'How to treat an unknown field',
} as const satisfies FlagSpec;

/** Flags for objects that differ in more than their fields. */
export const CHOICE = [
  {
    name: 'prune',
    type: 'boolean',
    description: 'Remove objects that these files created and no longer declare',
  },
  {
    name: 'adopt',
    type: 'boolean',
    description: 'Adopt declared objects that no namespace manages',
  },
  {
    name: 'write-secret',
    type: 'string',
    value: 'KIND/NAME#FIELD',
    repeatable: true,
    description: 'Write this secret even if nothing readable differs',
  },
] as const satisfies readonly FlagSpec[];

/** Flags that select among the declared objects. */
export const SELECT = [
  {
    name: 'only',
    type: 'string',
    value: 'KIND/NAME',
    repeatable: true,
    description: 'Only these objects; * matches any text, KIND alone all of a kind',
  },
  {
    name: 'exclude',
    type: 'string',
    value: 'KIND/NAME',
    repeatable: true,
    description: 'All but these objects',
  },
  {
    name: 'selector',
    short: 'l',
    type: 'string',
    value: 'LABEL=VALUE',
    repeatable: true,
    description: 'Only objects with this label; repeated: with all of them',
  },
] as const satisfies readonly FlagSpec[];

export const EXIT_CODE = {
  name: 'exit-code',
  type: 'boolean',
  description: 'Exit 2 when there are changes',
} as const satisfies FlagSpec;

export const ALL_OBJECTS = {
  name: 'all',
  type: 'boolean',
  description: 'Show unchanged objects, too',
} as const satisfies FlagSpec;

export const LOCK_TIMEOUT = {
  name: 'lock-timeout',
  type: 'duration',
  value: 'DURATION',
  description:
    'How long to wait and plan again when somebody else applies at the same time (default 0)',
} as const satisfies FlagSpec;

/** The files of a project. */
export const PROJECT = [FILE, RECURSIVE, OVERLAY, UNKNOWN_FIELDS] as const;
