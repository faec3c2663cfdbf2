import { plainCommand } from './plain-commands.ts';
import { writeCommands } from './write-commands.ts';

/** Commands on what organizations keep for their Agents; they need a key with the scope admin. */
export const RESOURCE_COMMANDS = [
  {
    name: 'agents',
    summary: 'Create, change, show and archive Agents',
    examples: [{ command: 'gateway agents list', note: 'All of them' }],
  },
  plainCommand('agents', 'list', {
    examples: [
      { command: 'gateway agents list --organization default', note: 'Of one organization' },
    ],
  }),
  plainCommand('agents', 'get', {
    examples: [{ command: 'gateway agents get helper', note: 'Model, tools and Skills' }],
  }),
  ...writeCommands({
    kind: 'agents',
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
  plainCommand('agents', 'archive', {
    description: 'It stays readable and accepts no new Session. This cannot be undone.',
    examples: [{ command: 'gateway agents archive helper --yes', note: 'Without confirmation' }],
  }),
  {
    name: 'services',
    aliases: ['endpoints'],
    summary: 'Create, change, enable and disable Services',
    examples: [{ command: 'gateway services list', note: 'All of them' }],
  },
  plainCommand('services', 'list', {
    examples: [{ command: 'gateway services list -o json', note: 'As JSON' }],
  }),
  plainCommand('services', 'get', {
    examples: [{ command: 'gateway services get Helper', note: 'Protocols, paths and Agent' }],
  }),
  ...writeCommands({
    kind: 'services',
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
  plainCommand('services', 'disable', {
    examples: [{ command: 'gateway services disable Helper', note: 'Until it is enabled again' }],
  }),
  plainCommand('services', 'enable', {
    examples: [{ command: 'gateway services enable Helper', note: 'After it was disabled' }],
  }),
  plainCommand('services', 'delete', {
    description: 'Its Agent stays. This cannot be undone.',
    examples: [{ command: 'gateway services delete Helper --yes', note: 'Without confirmation' }],
  }),
] as const;
