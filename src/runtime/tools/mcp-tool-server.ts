import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { toPublicMessage } from '../../core/redact.ts';
import { UrlGuardError } from '../../upstream/guard/url-guard-error.ts';
import { fromMcpResult, toFailedOutcome } from './tool-content.ts';
import { ToolServerError } from './tool-server.ts';
import type { ServerTool, ToolOutcome, ToolServer } from './tool-server.ts';

export interface McpToolServerOptions {
  connect(): Promise<Transport>;
  /** Never shown, whatever the server says. */
  secrets: readonly string[];
  /** As servers are told it. */
  version: string;
}

const CONNECT_MS = 20_000;
const LIST_MS = 20_000;
const CALL_MS = 300_000;
const MAX_TOOLS = 256;
const MAX_PAGES = 32;
const CLOSED: number = ErrorCode.ConnectionClosed;

/** A server that speaks MCP, through the official client. */
export function createMcpToolServer(options: McpToolServerOptions): ToolServer {
  let opened: Promise<Client> | undefined;

  const client = (signal: AbortSignal): Promise<Client> => (opened ??= connect(options, signal));
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      throw toServerError(thrown, options.secrets);
    }
  };

  return {
    list: (signal) => guarded(async () => listAll(await client(signal), signal)),
    call: (name, input, signal) =>
      guarded(async () => {
        const connected = await client(signal);
        try {
          const params = { name, arguments: { ...input } };
          const request = { method: 'tools/call' as const, params };
          const limits = { signal: own(signal), timeout: CALL_MS, maxTotalTimeout: CALL_MS };
          return fromMcpResult(await connected.request(request, CallToolResultSchema, limits));
        } catch (thrown) {
          signal.throwIfAborted();
          return toOutcome(thrown, options.secrets);
        }
      }),
    async close() {
      const connected = await opened?.catch(() => undefined);
      await connected?.close().catch(() => undefined);
    },
  };
}

/** The client never takes its listeners off again. */
function own(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal]);
}

async function connect(
  { connect, version }: McpToolServerOptions,
  signal: AbortSignal,
): Promise<Client> {
  const transport = await connect();
  const client = new Client({ name: 'agent-gateway', version });
  try {
    await client.connect(transport, { signal: own(signal), timeout: CONNECT_MS });
    return client;
  } catch (thrown) {
    await client.close().catch(() => undefined);
    throw thrown;
  }
}

async function listAll(client: Client, signal: AbortSignal): Promise<ServerTool[]> {
  const tools: ServerTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const request = { method: 'tools/list' as const, params };
    const answer = await client.request(request, ListToolsResultSchema, {
      signal: own(signal),
      timeout: LIST_MS,
    });
    tools.push(...answer.tools.map(toServerTool));
    cursor = answer.nextCursor;
    if (cursor === undefined || tools.length >= MAX_TOOLS) break;
  }
  return tools.slice(0, MAX_TOOLS);
}

function toServerTool({ name, description, inputSchema, annotations }: Tool): ServerTool {
  return {
    name,
    description,
    inputSchema,
    isReadOnly: annotations?.readOnlyHint === true,
    isIdempotent: annotations?.idempotentHint === true,
  };
}

/** What the server says of the call is the model's to read; the rest means that it was not asked. */
function toOutcome(thrown: unknown, secrets: readonly string[]): ToolOutcome {
  if (!(thrown instanceof McpError) || isLost(thrown)) throw thrown;
  return toFailedOutcome(toPublicMessage(thrown.message, { secrets }));
}

function isLost({ code }: McpError): boolean {
  return code === CLOSED;
}

function toServerError(thrown: unknown, secrets: readonly string[]): ToolServerError {
  if (thrown instanceof ToolServerError) return thrown;
  const status = thrown instanceof StreamableHTTPError ? thrown.code : undefined;
  if (thrown instanceof UnauthorizedError || status === 401 || status === 403)
    return new ToolServerError('authentication', 'the server refused the credential', {
      cause: thrown,
    });
  if (status === 429)
    return new ToolServerError('rate', 'the server takes no more requests for now', {
      cause: thrown,
    });
  const message = thrown instanceof UrlGuardError ? thrown.message : 'the server cannot be reached';
  return new ToolServerError('connection', toPublicMessage(message, { secrets }), {
    cause: thrown,
  });
}
