import type { ArgSpec, FlagSpec } from '../command.ts';

const SERVICE = {
  name: 'service',
  required: true,
  description: 'Slug, name or id of the Service',
} as const satisfies ArgSpec;

const CONTINUED = {
  name: 'session',
  type: 'string',
  value: 'ID',
  description: 'Session to continue',
} as const satisfies FlagSpec;

const MESSAGE = { name: 'message', description: 'Message; - reads stdin' } as const;

const CONVERSATION =
  'One Session, which outlives the command. Without a message it is a conversation on a terminal (Ctrl-C ends a turn, Ctrl-D leaves), which asks for each call that needs a permission and for the results of custom tools; elsewhere, and with -, the message is read from stdin, and a turn that waits exits 7.';

/** Commands that talk with an Agent. */
export const SERVICE_COMMANDS = [
  {
    name: 'invoke',
    summary: 'Send a message to a Service',
    description:
      "Begins or continues a Session and prints its id; --follow prints the agent's answer until its turn ends. Without a message, or with -, reads it from stdin. Reconnects when the connection is lost. With -o json, --follow is NDJSON of events. A turn that fails exits 7. One that waits for a permission or the result of a tool asks for it on a terminal; elsewhere --follow exits 7 and says what to type. A Session that waits already takes no message with --follow until it is answered.",
    examples: [
      { command: 'gateway invoke helper "hello" --follow', note: 'Wait for the answer' },
      {
        command: 'gateway invoke helper "go on" --session sess_01',
        note: 'Continue a Session without waiting',
      },
    ],
    args: [SERVICE, { name: 'input', description: 'Prompt; - reads stdin' }],
    flags: [
      {
        name: 'input',
        short: 'i',
        type: 'string',
        value: 'TEXT',
        description: 'Message, instead of the argument; - reads stdin',
      },
      CONTINUED,
      {
        name: 'follow',
        short: 'f',
        type: 'boolean',
        description: 'Stream the answer',
      },
    ],
    endless: { with: ['follow'] },
    load: () => import('../commands/services/invoke.ts'),
  },
  {
    name: 'agents chat',
    summary: 'Talk with an Agent',
    description: CONVERSATION,
    examples: [
      { command: 'gateway agents chat helper', note: 'A conversation' },
      { command: 'gateway agents chat helper "hello"', note: 'A single message' },
    ],
    args: [{ name: 'agent', required: true, description: 'Name or id of the Agent' }, MESSAGE],
    flags: [CONTINUED],
    endless: { without: 'message' },
    load: () => import('../commands/agents/agents-chat.ts'),
  },
  {
    name: 'services chat',
    summary: 'Talk with a Service',
    description: CONVERSATION,
    examples: [{ command: 'gateway services chat helper', note: 'A conversation' }],
    args: [SERVICE, MESSAGE],
    flags: [CONTINUED],
    endless: { without: 'message' },
    load: () => import('../commands/services/services-chat.ts'),
  },
  {
    name: 'acp',
    summary: 'Serve a Service as an ACP agent on stdin and stdout',
    description: 'For editors that start agents as a process. Ends when stdin does.',
    examples: [{ command: 'gateway acp helper', note: 'As the command of an agent in an editor' }],
    args: [SERVICE],
    serves: true,
    load: () => import('../commands/services/acp.ts'),
  },
  {
    name: 'mcp',
    summary: 'Serve a Service as an MCP server on stdin and stdout',
    description: 'For MCP clients that start servers as a process. Ends when stdin does.',
    examples: [{ command: 'gateway mcp helper', note: 'As the command of a server in a client' }],
    args: [SERVICE],
    serves: true,
    load: () => import('../commands/services/mcp.ts'),
  },
] as const;
