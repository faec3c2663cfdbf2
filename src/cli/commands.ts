import { isListed, kindsWhere } from '../core/kinds.ts';
import type { CommandSpec } from './command.ts';
import type { InputFor, RunFor } from './command-input.ts';
import { ACCOUNT_COMMANDS } from './tables/account-commands.ts';
import { AUDIT_COMMANDS } from './tables/audit-commands.ts';
import { CONFIG_COMMANDS } from './tables/config-commands.ts';
import { CONNECTION_COMMANDS } from './tables/connection-commands.ts';
import { DEPLOYMENT_COMMANDS } from './tables/deployment-commands.ts';
import { CONTENT_COMMANDS } from './tables/content-commands.ts';
import { LOCAL_COMMANDS } from './tables/local-commands.ts';
import { kindCommands } from './tables/plain-commands.ts';
import { PLUGIN_COMMANDS } from './tables/plugin-commands.ts';
import { CHAT_COMMANDS } from './tables/chat-commands.ts';
import { PROCESS_COMMANDS } from './tables/process-commands.ts';
import { PRICE_COMMANDS } from './tables/price-commands.ts';
import { REMOTE_COMMANDS } from './tables/remote-commands.ts';
import { RESOURCE_COMMANDS } from './tables/resource-commands.ts';
import { RUN_COMMANDS } from './tables/run-commands.ts';
import { SERVICE_COMMANDS } from './tables/service-commands.ts';
import { SESSION_COMMANDS } from './tables/session-commands.ts';
import { STORE_COMMANDS } from './tables/store-commands.ts';

/** Commands that are written out, in the order of help and docs. */
const WRITTEN = [
  ...LOCAL_COMMANDS,
  ...PROCESS_COMMANDS,
  ...STORE_COMMANDS,
  ...CONFIG_COMMANDS,
  ...CHAT_COMMANDS,
  ...REMOTE_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...PRICE_COMMANDS,
  ...AUDIT_COMMANDS,
  ...CONNECTION_COMMANDS,
  ...RESOURCE_COMMANDS,
  ...CONTENT_COMMANDS,
  ...SERVICE_COMMANDS,
  ...SESSION_COMMANDS,
  ...DEPLOYMENT_COMMANDS,
  ...RUN_COMMANDS,
  ...PLUGIN_COMMANDS,
  {
    name: 'version',
    summary: 'Print the version',
    examples: [{ command: 'gateway version -o json', note: 'With Node.js and platform' }],
    light: () => import('./commands/local/version.ts'),
    load: () => import('./commands/local/version.ts'),
  },
  {
    name: 'completion',
    summary: 'Print a completion script for a shell',
    examples: [
      { command: 'source <(gateway completion bash)', note: 'bash, in ~/.bashrc' },
      { command: 'source <(gateway completion zsh)', note: 'zsh, in ~/.zshrc behind compinit' },
      { command: 'gateway completion fish | source', note: 'fish, in ~/.config/fish/config.fish' },
    ],
    args: [{ name: 'shell', required: true, description: 'bash, zsh, fish or powershell' }],
    light: () => import('./commands/local/completion.ts'),
    load: () => import('./commands/local/completion.ts'),
  },
  {
    name: 'complete-words',
    summary: 'Print what may follow the words of a command line',
    examples: [],
    args: [
      {
        name: 'words',
        variadic: true,
        description: 'The words so far; the last one is being written',
      },
    ],
    hidden: true,
    light: () => import('./commands/local/complete-words.ts'),
    load: () => import('./commands/local/complete-words.ts'),
  },
  {
    name: 'help',
    summary: 'Show help on a command, flags, exit-codes, env or config',
    examples: [
      { command: 'gateway help keys create', note: 'One command' },
      { command: 'gateway help flags', note: 'What every command takes' },
      { command: 'gateway help exit-codes', note: 'What an exit code says' },
      { command: 'gateway help env', note: 'Every environment variable' },
    ],
    args: [
      {
        name: 'topic',
        variadic: true,
        description: 'Words of a command, or flags, exit-codes, env, config',
      },
    ],
    light: () => import('./commands/local/help.ts'),
    load: () => import('./commands/local/help.ts'),
  },
] as const;

type Written = (typeof WRITTEN)[number];
type Named<N> = Extract<Written, { name: N }>;

/** Names of commands that are written out and have code. */
type NameOf<C> = C extends { name: infer N extends string; load: unknown }
  ? string extends N
    ? never
    : N
  : never;

type CommandName = NameOf<Written>;

/** Input of a command, as its row declares it. */
export type InputOf<N extends CommandName> = InputFor<Named<N>>;

/** Code of a command: it reads arguments and flags that its row declares, and no other. */
export type RunOf<N extends CommandName> = RunFor<Named<N>>;

/** Names of the commands whose code is for another row, and of rows with members that no command has. */
type Wrong<C> = C extends { name: string; load: () => Promise<infer M> }
  ? M extends { run: RunFor<C> }
    ? Exclude<keyof C, keyof CommandSpec> extends never
      ? never
      : C['name']
    : C['name']
  : never;

const ROWS: [Wrong<Written>] extends [never] ? readonly CommandSpec[] : Wrong<Written> = WRITTEN;

/**
 * Every command of the binary, in the order of help and docs; kinds for which none is written have the
 * plain ones. The table is loaded at every start, so it is few files; what a command does is loaded when
 * it runs.
 */
export const COMMANDS: readonly CommandSpec[] = [
  ...ROWS,
  ...kindsWhere(isListed)
    .filter((kind) => !ROWS.some(({ name }) => name === kind))
    .flatMap(kindCommands),
];
