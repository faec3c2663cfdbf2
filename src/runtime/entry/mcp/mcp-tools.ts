import { z } from 'zod';
import { stringifyWithRaw } from '../../../core/json/raw.ts';
import { messageParts, messageText, sessionToGoOn } from '../read-run.ts';

/** A tool as clients of every revision read it. */
interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly outputSchema: object;
  readonly annotations: object;
}

export interface ToolResult {
  readonly content: readonly object[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

/**
 * One required member, and no combination of schemas at the top: the APIs of large models refuse a tool
 * with `oneOf`, `anyOf` or `allOf` there, and every request that offers it.
 */
export const sendMessageInput = z.object({
  input: z
    .union([messageText, messageParts], { error: 'a text or a list of parts is required' })
    .describe('The message: its text, or a list of parts of the types text, image and document.'),
  session_id: sessionToGoOn.optional().describe('Session to go on with. Default: a new one.'),
  wait: z
    .boolean()
    .optional()
    .describe(
      'Wait for the end of the turn, at most five minutes, and give its events. Default: false.',
    ),
});

export const getSessionInput = z.object({
  session_id: z.string().min(1).describe('What send_message gave.'),
  after: z
    .string()
    .min(1)
    .optional()
    .describe('Id of an event: only what follows it. Default: from the beginning.'),
});

const events = z.array(z.looseObject({ id: z.string(), type: z.string() }));

const sendMessageOutput = z.looseObject({
  session_id: z.string(),
  events: events.describe('The message; with wait, also what followed until the turn ended.'),
  status: z.string().optional().describe('With wait: running when the turn goes on.'),
  stop_reason: z.looseObject({ type: z.string() }).nullable().optional(),
});

const getSessionOutput = z.looseObject({
  session_id: z.string(),
  status: z.string().describe('idle, running, rescheduling or terminated'),
  events,
  has_more: z.boolean().describe('Call again with after = id of the last event.'),
});

/**
 * Lists the tools that every Service offers to MCP clients, always in this order and with the same bytes
 * (requirements mcp.tools, mcp.list-order).
 */
export function listTools(): Tool[] {
  return [
    {
      name: 'send_message',
      title: 'Send a message',
      description:
        'Sends one message to the agent, in a new session or one that exists. The agent answers in the session: read it with get_session, or set wait.',
      inputSchema: toSchema(sendMessageInput, 'input'),
      outputSchema: toSchema(sendMessageOutput, 'output'),
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    },
    {
      name: 'get_session',
      title: 'Read a session',
      description:
        'Reads the status of a session and its events, such as the replies of the agent.',
      inputSchema: toSchema(getSessionInput, 'input'),
      outputSchema: toSchema(getSessionOutput, 'output'),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
  ];
}

/** The same for clients of revisions that know no structured results. */
export function toToolResult(structuredContent: Record<string, unknown>): ToolResult {
  return {
    content: [{ type: 'text', text: stringifyWithRaw(structuredContent) }],
    structuredContent,
  };
}

export function toToolFailure(message: string): ToolResult {
  return { content: [{ type: 'text', text: message }], isError: true };
}

/** Clients check results against the schema, not all of them in the newest dialect. */
function toSchema(schema: z.ZodObject, io: 'input' | 'output'): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { target: 'draft-7', io });
  return rest;
}
