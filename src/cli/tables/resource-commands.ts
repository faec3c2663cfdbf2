import type { CommandSpec } from '../command.ts';
import { loadChange, loadGet, loadList } from './plain-commands.ts';
import { ID, IGNORE_NOT_FOUND, ORGANIZATION } from './shared-words.ts';

/** Commands on what organizations keep for their Agents; they need a key with the scope admin. */
export const RESOURCE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'agents',
    summary: 'List, show and archive Agents',
    examples: [{ command: 'gateway agents list', note: 'All of them' }],
  },
  {
    name: 'agents list',
    aliases: ['ls'],
    summary: 'List Agents',
    examples: [{ command: 'gateway agents list --organization default', note: 'Of one of them' }],
    flags: [ORGANIZATION, { name: 'archived', type: 'boolean', description: 'Archived ones, too' }],
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
  {
    name: 'agents archive',
    summary: 'Archive an Agent',
    description: 'It stays readable and takes no new Session. This cannot be undone.',
    examples: [{ command: 'gateway agents archive helper --yes', note: 'Without being asked' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('agents', 'archive'),
  },
  {
    name: 'services',
    aliases: ['endpoints'],
    summary: 'List Services, turn them on and off',
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
  {
    name: 'services disable',
    summary: 'Refuse all calls to a Service',
    examples: [{ command: 'gateway services disable Helper', note: 'Until it is enabled again' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('services', 'disable'),
  },
  {
    name: 'services enable',
    summary: 'Take calls to a Service again',
    examples: [{ command: 'gateway services enable Helper', note: 'After a disable' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('services', 'enable'),
  },
  {
    name: 'services delete',
    aliases: ['rm'],
    summary: 'Delete a Service',
    description: 'Its Agent stays. This cannot be undone.',
    examples: [{ command: 'gateway services delete Helper --yes', note: 'Without being asked' }],
    args: [ID],
    flags: [IGNORE_NOT_FOUND],
    load: loadChange('services', 'delete'),
  },
];
