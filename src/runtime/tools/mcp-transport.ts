import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { fetch } from 'undici';
import type { RequestInit } from 'undici';
import type { AgentMcpServer } from '../../sessions/resolved-agent.ts';
import type { UrlGuard } from '../../upstream/guard/url-guard.ts';
import { isSecretName } from '../secret-name.ts';
import { toHeaders } from './tool-credentials.ts';
import type { ToolCredential } from './tool-credentials.ts';
import { ToolServerError } from './tool-server.ts';

/** A process that the operator declared (config: server.mcp_servers). */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

export interface McpTransportDeps {
  guard: UrlGuard;
  /** By name; nothing else is ever run. */
  stdioServers: ReadonlyMap<string, StdioServer>;
}

/** Of one answer of a server. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A lost stream ends the call; it is not asked for again. */
const NO_RECONNECTION = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 0,
};

/**
 * A fresh way to the server, not yet connected.
 *
 * @throws ToolServerError for a process that is not declared
 * @throws UrlGuardError for an address that must not be called
 */
export async function createMcpTransport(
  server: AgentMcpServer,
  credentials: readonly ToolCredential[],
  { guard, stdioServers }: McpTransportDeps,
): Promise<Transport> {
  if (server.type === 'stdio') {
    const declared = stdioServers.get(server.server ?? '');
    if (!declared) throw new ToolServerError('connection', 'the operator declares no such server');
    return toStdio(declared, credentials);
  }
  const url = await guard.check(server.url ?? '');
  return new StreamableHTTPClientTransport(url, {
    fetch: guardedFetch(guard),
    requestInit: { headers: toHeaders(credentials) },
    reconnectionOptions: NO_RECONNECTION,
  });
}

function toStdio(
  { command, args, env, cwd }: StdioServer,
  credentials: readonly ToolCredential[],
): Transport {
  // Callers choose the names: one like NODE_OPTIONS would run what they like.
  const secrets = credentials
    .filter(({ name }) => isSecretName(name))
    .map(({ name, value }) => [name, value] as const);
  return new StdioClientTransport({
    command,
    args: [...(args ?? [])],
    env: { ...env, ...Object.fromEntries(secrets) },
    ...(cwd !== undefined && { cwd }),
    stderr: 'ignore',
    maxBufferSize: MAX_BYTES,
  });
}

/** Every connection passes the guard, those of redirects, too. */
function guardedFetch({ dispatcher }: UrlGuard): FetchLike {
  return async (url, init) => {
    const options = { ...(init as RequestInit), dispatcher };
    const response = (await fetch(url, options)) as unknown as Response;
    if (!response.body) return response;
    return new Response(response.body.pipeThrough(limit(MAX_BYTES)), response);
  };
}

function limit(
  maxBytes: number,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new RangeError('the answer of the server is too large');
      controller.enqueue(chunk);
    },
  });
}
