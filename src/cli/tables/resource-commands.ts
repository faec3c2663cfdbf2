import type { CommandSpec } from '../command.ts';
import { loadChange, loadGet, loadList } from './plain-commands.ts';
import { writeCommands } from './write-commands.ts';
import { ID, IGNORE_NOT_FOUND, ORGANIZATION } from './shared-words.ts';

/** Commands on what organizations keep for their Agents; they need a key with the scope admin. */
export const RESOURCE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'agents',
    summary: 'Create, change, show and archive Agents',
    examples: [{ command: 'gateway agents list', note: 'All of them' }],
  },
  {
    name: 'agents list',
    aliases: ['ls'],
    summary: 'List Agents',
    examples: [
      { command: 'gateway agents list --organization default', note: 'Of one organization' },
    ],
    flags: [
      ORGANIZATION,
      { name: 'archived', type: 'boolean', description: 'Include archived ones' },
    ],
    load: loadList('agents'),
  },
  {
    name: 'agents get',
    summary: 'Show one Agent',
    examples: [{ command: 'gateway agents get helper', note: 'Model, tools and Skills' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadGet('agents'),
  },
  ...writeCommands({
    kind: 'agent',
    group: 'agents',
    one: 'an Agent',
    create: [
      {
        command: 'gateway agents create helper --model acme/fast --system "Be brief."',
        note: 'On a model',
      },
      { command: 'gateway agents create coder --harness coder', note: 'Of server.harnesses' },
    ],
    update: [
      { command: 'gateway agents update helper --model.effort high', note: 'A new version of it' },
    ],
  }),
  {
    name: 'agents archive',
    summary: 'Archive an Agent',
    description: 'It stays readable and accepts no new Session. This cannot be undone.',
    examples: [{ command: 'gateway agents archive helper --yes', note: 'Without confirmation' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('agents', 'archive'),
  },
  {
    name: 'services',
    aliases: ['endpoints'],
    summary: 'Create, change, enable and disable Services',
    examples: [{ command: 'gateway services list', note: 'All of them' }],
  },
  {
    name: 'services list',
    aliases: ['ls'],
    summary: 'List Services',
    examples: [{ command: 'gateway services list -o json', note: 'As JSON' }],
    flags: [ORGANIZATION],
    load: loadList('services'),
  },
  {
    name: 'services get',
    summary: 'Show one Service',
    examples: [{ command: 'gateway services get Helper', note: 'Protocols, paths and Agent' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadGet('services'),
  },
  ...writeCommands({
    kind: 'service',
    group: 'services',
    one: 'a Service',
    create: [
      {
        command: 'gateway services create Helper --slug helper --agent helper --protocols rest',
        note: 'An Agent over REST',
      },
    ],
    update: [
      {
        command: 'gateway services update Helper --protocols rest --protocols mcp',
        note: 'Over MCP, too',
      },
    ],
  }),
  {
    name: 'services disable',
    summary: 'Disable a Service',
    examples: [{ command: 'gateway services disable Helper', note: 'Until it is enabled again' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('services', 'disable'),
  },
  {
    name: 'services enable',
    summary: 'Enable a Service',
    examples: [{ command: 'gateway services enable Helper', note: 'After it was disabled' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('services', 'enable'),
  },
  {
    name: 'services delete',
    aliases: ['rm'],
    summary: 'Delete a Service',
    description: 'Its Agent stays. This cannot be undone.',
    examples: [{ command: 'gateway services delete Helper --yes', note: 'Without confirmation' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('services', 'delete'),
  },
];
