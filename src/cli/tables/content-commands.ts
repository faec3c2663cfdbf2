import type { ArgSpec } from '../command.ts';
import { plainCommand } from './plain-commands.ts';
import { updateCommand } from './write-commands.ts';
import { FORCE, ID, IGNORE_NOT_FOUND, ORGANIZATION, VALUE_FLAGS } from './shared-words.ts';

const FOLDER = {
  name: 'folder',
  required: true,
  description: 'Folder with a SKILL.md',
} as const satisfies ArgSpec;

/** Commands on what Agents are given, for the scope admin, and on media that requests name. */
export const CONTENT_COMMANDS = [
  {
    name: 'credentials',
    summary: 'Manage Credentials for the tools of Agents',
    examples: [{ command: 'gateway credentials list', note: 'All, without their values' }],
  },
  plainCommand('credentials', 'list', {
    summary: 'List Credentials',
    examples: [{ command: 'gateway credentials list', note: 'Hints, never values' }],
  }),
  plainCommand('credentials', 'get', {
    summary: 'Show one Credential',
    examples: [
      { command: 'gateway credentials get sec_01', note: 'State and failures, without the value' },
    ],
  }),
  {
    name: 'credentials create',
    summary: 'Create a Credential',
    description:
      'The value is sealed and never shown again. It is read from a file, stdin or the environment, never from the command line. With -o yaml, creates nothing and prints the YAML of gateway.yaml.',
    examples: [
      {
        command:
          'gateway credentials create --agent coder --scope-name tracker --secret-key token --value-file token.txt',
        note: 'A bearer token for the MCP server tracker',
      },
      {
        command:
          'pass acme | gateway credentials create --agent coder --scope-name opencode --secret-key ACME_API_KEY --value-stdin',
        note: 'A variable of the harness opencode',
      },
    ],
    args: [{ name: 'name', description: 'Display name' }],
    flags: [
      { name: 'agent', type: 'string', value: 'ID', description: 'Id or name of the Agent' },
      {
        name: 'scope',
        type: 'string',
        value: 'WORD',
        default: 'mcp',
        description: 'Kind of access',
      },
      {
        name: 'scope-name',
        type: 'string',
        value: 'NAME',
        description: 'MCP server or harness that receives it',
      },
      {
        name: 'secret-key',
        type: 'string',
        value: 'NAME',
        description: 'Header or variable that carries it',
      },
      {
        name: 'group-key',
        type: 'string',
        value: 'NAME',
        description: 'Group of Credentials that are used in turn',
      },
      {
        name: 'weight',
        type: 'integer',
        min: 1,
        description: 'Relative share of use within its group',
      },
      ...VALUE_FLAGS,
    ],
    formats: ['yaml'],
    load: () => import('../commands/agents/credentials-create.ts'),
  },
  updateCommand({
    kind: 'credentials',
    one: 'a Credential',
    update: [
      {
        command: 'gateway credentials update sec_01 --weight 3',
        note: 'Three times as many turns; `credentials rotate` gives a new value',
      },
    ],
  }),
  {
    name: 'credentials rotate',
    summary: 'Replace the value of a Credential',
    description: 'Resets its failures; the next use has the new value.',
    examples: [
      {
        command: 'gateway credentials rotate sec_01 --value-env NEW_TOKEN',
        note: 'From the environment',
      },
    ],
    args: [ID],
    flags: VALUE_FLAGS,
    load: () => import('../commands/agents/credentials-rotate.ts'),
  },
  plainCommand('credentials', 'disable', {
    summary: 'Disable a Credential',
    examples: [
      { command: 'gateway credentials disable sec_01', note: 'Until it is enabled again' },
    ],
  }),
  plainCommand('credentials', 'enable', {
    summary: 'Enable a Credential',
    examples: [{ command: 'gateway credentials enable sec_01', note: 'After it was disabled' }],
  }),
  {
    name: 'skills',
    summary: 'Manage Skills: instructions and files for Agents',
    examples: [{ command: 'gateway skills list', note: 'All of them' }],
  },
  plainCommand('skills', 'list', {
    examples: [{ command: 'gateway skills list -q', note: 'Only their names' }],
  }),
  {
    name: 'skills get',
    summary: 'Show or unpack a Skill',
    examples: [
      { command: 'gateway skills get review', note: 'Description and latest version' },
      { command: 'gateway skills get review --out ./review', note: 'Unpack its files' },
    ],
    flags: [
      IGNORE_NOT_FOUND,
      { name: 'out', type: 'string', value: 'DIR', description: 'Unpack it into a new folder' },
      {
        name: 'at',
        type: 'string',
        value: 'VERSION',
        description: 'Version (default: the latest)',
      },
    ],
    args: [ID],
    load: () => import('../commands/agents/skills-get.ts'),
  },
  {
    name: 'skills create',
    summary: 'Upload a folder as a new Skill',
    description: 'With -o yaml nothing is written and the YAML for gateway.yaml is printed.',
    examples: [{ command: 'gateway skills create ./review', note: 'All files of the folder' }],
    args: [FOLDER],
    flags: [
      ORGANIZATION,
      { name: 'display-name', type: 'string', value: 'TEXT', description: 'Display name' },
    ],
    formats: ['yaml'],
    load: () => import('../commands/agents/skills-create.ts'),
  },
  {
    name: 'skills update',
    summary: 'Upload a folder as a new version of a Skill',
    description:
      'Agents keep their version until they are updated to the new one. A Skill owned by a namespace of gateway.yaml needs --force (exit 5 without). With -o yaml nothing is written and the YAML for gateway.yaml is printed.',
    examples: [{ command: 'gateway skills update review ./review', note: 'The next version' }],
    args: [ID, FOLDER],
    flags: [FORCE],
    formats: ['yaml'],
    load: () => import('../commands/agents/skills-update.ts'),
  },
  {
    name: 'skills versions',
    lists: true,
    summary: 'List the versions of a Skill',
    examples: [{ command: 'gateway skills versions review', note: 'Newest first' }],
    args: [ID],
    load: () => import('../commands/agents/skills-versions.ts'),
  },
  plainCommand('skills', 'delete', {
    summary: 'Delete a Skill with all its versions',
    description: 'Refused while an Agent or a Service refers to it. This cannot be undone.',
    examples: [{ command: 'gateway skills delete review --yes', note: 'Without confirmation' }],
  }),
  {
    name: 'files',
    summary: 'Manage files that messages refer to',
    examples: [{ command: 'gateway files list', note: 'All of them' }],
  },
  plainCommand('files', 'list', {
    examples: [{ command: 'gateway files list', note: 'Newest last' }],
  }),
  plainCommand('files', 'get', {
    examples: [{ command: 'gateway files get file_01', note: 'Name, media type and size' }],
  }),
  {
    name: 'files upload',
    summary: 'Upload a file and print its id',
    examples: [
      { command: 'FILE=$(gateway files upload report.pdf)', note: 'Keep the id in a variable' },
    ],
    args: [{ name: 'path', required: true, description: 'The file' }],
    flags: [
      ORGANIZATION,
      { name: 'name', type: 'string', value: 'NAME', description: 'File name (default: its own)' },
      {
        name: 'type',
        type: 'string',
        value: 'TYPE',
        description: 'Media type (default: by extension)',
      },
    ],
    load: () => import('../commands/sessions/files-upload.ts'),
  },
  {
    name: 'files download',
    summary: 'Download a file',
    examples: [
      { command: 'gateway files download file_01', note: 'Under its own name' },
      { command: 'gateway files download file_01 --out a.pdf', note: 'Under another' },
    ],
    args: [ID],
    flags: [
      {
        name: 'out',
        type: 'string',
        value: 'FILE',
        description: 'Path to write to (default: its own name)',
      },
      { name: 'force', type: 'boolean', description: 'Overwrite an existing file' },
    ],
    load: () => import('../commands/sessions/files-download.ts'),
  },
  plainCommand('files', 'delete', {
    description: 'Messages that refer to it continue without it. This cannot be undone.',
    examples: [{ command: 'gateway files delete file_01 --yes', note: 'Without confirmation' }],
  }),
  {
    name: 'assets',
    summary: 'Manage media under permanent references',
    examples: [{ command: 'gateway assets get asset://media_01', note: 'Show its state and link' }],
  },
  {
    name: 'assets create',
    summary: 'Register media and print its reference',
    description: 'Requests can use the reference any number of times. Needs the scope assets.',
    examples: [
      {
        command: 'FOX=$(gateway assets create https://example.com/fox.png --type Image)',
        note: 'Keep the reference in a variable',
      },
    ],
    args: [{ name: 'url', required: true, description: 'Public URL of the media' }],
    flags: [
      {
        name: 'type',
        type: 'string',
        value: 'TYPE',
        choices: ['Image', 'Video', 'Audio'],
        default: 'Image',
        description: 'Kind of media',
      },
      { name: 'name', type: 'string', value: 'NAME', description: 'Display name' },
    ],
    load: () => import('../commands/models/assets-create.ts'),
  },
  {
    name: 'assets get',
    summary: 'Show one asset',
    examples: [{ command: 'gateway assets get asset://media_01', note: 'With a download link' }],
    args: [{ name: 'asset', required: true, description: 'Reference, with or without asset://' }],
    flags: [IGNORE_NOT_FOUND],
    load: () => import('../commands/models/assets-get.ts'),
  },
] as const;
