import type { ArgSpec, CommandSpec } from '../command.ts';

const SERVICE: ArgSpec = {
  name: 'service',
  required: true,
  description: 'Slug, name or id of the Service',
};

/** Commands that call a published Agent. */
export const SERVICE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'invoke',
    summary: 'Send a message to a Service',
    description:
      'Begins or continues a Session and prints its id; with --follow, what the agent says until its turn ends. Without a message, or with -, it is read from stdin. A lost connection is made again. With -o json --follow is NDJSON of events. A turn that fails exits 7.',
    examples: [
      { command: 'gateway invoke helper "hello" --follow', note: 'Wait for the answer' },
      {
        command: 'gateway invoke helper "go on" --session sess_01',
        note: 'Go on with a Session, and wait for nothing',
      },
    ],
    args: [SERVICE, { name: 'input', description: 'What to say; - reads stdin' }],
    flags: [
      {
        name: 'input',
        short: 'i',
        type: 'string',
        value: 'TEXT',
        description: 'What to say, in place of the argument; - reads stdin',
      },
      { name: 'session', type: 'string', value: 'ID', description: 'Session to go on with' },
      {
        name: 'follow',
        short: 'f',
        type: 'boolean',
        description: 'Print the answer while it arrives',
      },
    ],
    load: () => import('../commands/services/invoke.ts'),
  },
  {
    name: 'acp',
    summary: 'Offer a Service as an ACP agent on stdin and stdout',
    description: 'For editors that start agents as a process. Ends when stdin does.',
    examples: [{ command: 'gateway acp helper', note: 'As the command of an agent in an editor' }],
    args: [SERVICE],
    load: () => import('../commands/services/acp.ts'),
  },
  {
    name: 'mcp',
    summary: 'Offer a Service as an MCP server on stdin and stdout',
    description: 'For MCP clients that start servers as a process. Ends when stdin does.',
    examples: [{ command: 'gateway mcp helper', note: 'As the command of a server in a client' }],
    args: [SERVICE],
    load: () => import('../commands/services/mcp.ts'),
  },
];
