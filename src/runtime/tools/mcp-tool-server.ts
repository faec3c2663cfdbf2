import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ErrorCode,
  McpError,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { toPublicMessage } from '../../core/redact.ts';
import { UrlGuardError } from '../../upstream/guard/url-guard-error.ts';
import { listTools } from './list-tools.ts';
import { fromMcpResult, toFailedOutcome } from './tool-content.ts';
import { ToolServerError } from './tool-server.ts';
import type { ToolOutcome, ToolServer } from './tool-server.ts';
import type { ToolTransport } from './tool-transport.ts';

/** Longest times for steps of a server, in milliseconds. */
export interface ToolDeadlines {
  /** Time until it is ready. */
  readonly connect: number;
  /** Time limit for one page of its list. */
  readonly list: number;
  readonly call: number;
}

export interface McpToolServerOptions {
  connect(): Promise<ToolTransport>;
  /** Never shown, whatever the server says. */
  readonly secrets: readonly string[];
  /** Version of the gateway, sent to servers. */
  readonly version: string;
  /** Default: 20 seconds to connect and to list, five minutes for a call. */
  readonly deadlines?: ToolDeadlines | undefined;
}

const DEADLINES: ToolDeadlines = { connect: 20_000, list: 20_000, call: 300_000 };

const CLOSED: number = ErrorCode.ConnectionClosed;
const TIMED_OUT: number = ErrorCode.RequestTimeout;

// Results are passed on as far as they can be.
const resultSchema = z.looseObject({});

interface Connection {
  readonly client: Client;
  readonly transport: ToolTransport;
}

/** A server that speaks MCP, through the official client. */
export function createMcpToolServer(options: McpToolServerOptions): ToolServer {
  const { secrets, deadlines = DEADLINES } = options;
  const listeners: (() => void)[] = [];
  let opened: Promise<Connection> | undefined;

  const connection = (signal: AbortSignal): Promise<Connection> =>
    (opened ??= connect(options, {
      signal,
      onToolsChanged: () => listeners.forEach((one) => one()),
    }));
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      throw toServerError(thrown, secrets);
    }
  };

  return {
    list: (signal) =>
      guarded(async () => {
        const { client, transport } = await connection(signal);
        try {
          return await listTools(client, { signal: own(signal), timeout: deadlines.list });
        } catch (thrown) {
          throw faultOf(thrown, transport) ?? thrown;
        }
      }),
    call: (name, input, signal) =>
      guarded(async () => {
        const connected = await connection(signal);
        try {
          const params = { name, arguments: { ...input } };
          const { call: timeout } = deadlines;
          const limits = { signal: own(signal), timeout, maxTotalTimeout: timeout };
          const request = { method: 'tools/call' as const, params };
          const result = await connected.client.request(request, resultSchema, limits);
          return fromMcpResult(result, secrets);
        } catch (thrown) {
          signal.throwIfAborted();
          return toOutcome(thrown, connected, secrets);
        }
      }),
    onToolsChanged: (listener) => void listeners.push(listener),
    async close() {
      const connected = await opened?.catch(() => undefined);
      if (connected) await end(connected);
    },
  };
}

/** The client never takes its listeners off again. */
function own(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal]);
}

async function connect(
  { connect, version, deadlines: { connect: timeout } = DEADLINES }: McpToolServerOptions,
  { signal, onToolsChanged }: { signal: AbortSignal; onToolsChanged: () => void },
): Promise<Connection> {
  const transport = await connect();
  const client = new Client({ name: 'agent-gateway', version });
  client.setNotificationHandler(ToolListChangedNotificationSchema, onToolsChanged);
  try {
    await client.connect(transport, { signal: own(signal), timeout });
    return { client, transport };
  } catch (thrown) {
    const fault = faultOf(thrown, transport);
    await end({ client, transport });
    throw fault ?? thrown;
  }
}

/** A client whose connection broke has dropped its transport, which may still end a process. */
async function end({ client, transport }: Connection): Promise<void> {
  await client.close().catch(() => undefined);
  await transport.close().catch(() => undefined);
}

/**
 * Turns a server's answer into an outcome for the model; any other error means that the server was
 * not asked.
 */
function toOutcome(
  thrown: unknown,
  { transport }: Connection,
  secrets: readonly string[],
): ToolOutcome {
  const fault = faultOf(thrown, transport);
  if (fault) throw fault;
  if (!(thrown instanceof McpError)) throw thrown;
  return toFailedOutcome(toPublicMessage(thrown.message, { secrets }));
}

/** Servers give their own errors the code of a lost connection, too. */
function faultOf(thrown: unknown, { fault }: ToolTransport): ToolServerError | undefined {
  if (!(thrown instanceof McpError) || thrown.code !== CLOSED) return undefined;
  return thrown.data instanceof ToolServerError ? thrown.data : fault;
}

function toServerError(thrown: unknown, secrets: readonly string[]): ToolServerError {
  if (thrown instanceof ToolServerError) return thrown;
  const status = thrown instanceof StreamableHTTPError ? thrown.code : undefined;
  if (thrown instanceof UnauthorizedError || status === 401 || status === 403)
    return new ToolServerError('authentication', 'the server refused the credential', {
      cause: thrown,
    });
  if (status === 429)
    return new ToolServerError('rate', 'the server accepts no more requests at the moment', {
      cause: thrown,
    });
  return new ToolServerError('connection', toPublicMessage(reasonOf(thrown), { secrets }), {
    cause: thrown,
  });
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof UrlGuardError) return thrown.message;
  const isLate = thrown instanceof McpError && thrown.code === TIMED_OUT;
  return isLate ? 'the server did not answer in time' : 'the server cannot be reached';
}
