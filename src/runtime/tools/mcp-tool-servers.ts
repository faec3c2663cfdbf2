import { createHash } from 'node:crypto';
import type { Sealer } from '../../core/seal.ts';
import type { AgentMcpServer } from '../../sessions/resolved-agent.ts';
import type { Session } from '../../sessions/session.ts';
import { createKnownServers } from './known-servers.ts';
import type { KnownServer } from './known-servers.ts';
import { programSecrets } from './program-secrets.ts';
import type { ToolDeadlines } from './mcp-tool-server.ts';
import type { McpTransportDeps } from './mcp-transport.ts';
import type { ToolCredential, ToolCredentials } from './tool-credentials.ts';
import { ToolServerError } from './tool-server.ts';
import type { ToolServer, ToolServers } from './tool-server.ts';

export interface McpToolServersDeps extends McpTransportDeps {
  readonly credentials: ToolCredentials;
  readonly sealer: Sealer;
  /** Version of the gateway, sent to servers. */
  readonly version: string;
  /** Default: see `McpToolServerOptions`. */
  readonly deadlines?: ToolDeadlines;
}

/** Connections that are tried in a row for one call. */
const MAX_TRIES = 3;
/** Reasons that are those of a credential. */
const IS_REFUSAL: ReadonlySet<ToolServerError['reason']> = new Set(['authentication', 'rate']);

interface Connected {
  readonly server: Required<ToolServer>;
  readonly credentials: readonly ToolCredential[];
  /** The server is not the Agent's own. */
  readonly isForeign: boolean;
  /** The server took the credentials. */
  isTaken: boolean;
  /** Number of calls under way. */
  uses: number;
  /** Closed as soon as nothing is. */
  isSpent: boolean;
}

/**
 * Servers over streamable HTTP at addresses that the guard lets through, and processes that the
 * operator declared. A credential that the server refuses gives way to the next of its group: such a
 * call was not carried out.
 */
export function createMcpToolServers(deps: McpToolServersDeps): ToolServers {
  const knownServers = createKnownServers(deps.clock);
  return {
    open(session, declared) {
      const connections = new Connections({ session, declared, deps, knownServers });
      return {
        list: (signal) => connections.use((server) => server.list(signal)),
        call: (name, input, signal) =>
          connections.use((server) => server.call(name, input, signal)),
        answer: (call, signal) => connections.use((server) => server.answer(call, signal)),
        onToolsChanged: (listener) => connections.onToolsChanged(listener),
        close: () => connections.close(),
      };
    },
  };
}

interface ConnectionsOptions {
  readonly session: Session;
  readonly declared: AgentMcpServer;
  readonly deps: McpToolServersDeps;
  readonly knownServers: (key: string) => KnownServer;
}

/** The one connection that is in use, replaced when its credential is refused. */
class Connections {
  readonly #options: ConnectionsOptions;
  readonly #listeners: (() => void)[] = [];
  readonly #closing: Promise<void>[] = [];
  #current: Promise<Connected> | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  async use<T>(work: (server: Required<ToolServer>) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const used = (this.#current ??= this.#connect());
      const connected = await used.catch((thrown: unknown) => {
        this.#replace(used);
        throw thrown;
      });
      try {
        return await this.#useOnce(connected, work);
      } catch (thrown) {
        if (!(thrown instanceof ToolServerError)) throw thrown;
        // This connection has had its day, whatever went wrong.
        this.#replace(used);
        if (thrown.reason === 'stale' && tries < MAX_TRIES) continue;
        const { credentials, isForeign } = connected;
        if (isForeign && thrown.reason === 'authentication') throw withheld(thrown);
        if (!IS_REFUSAL.has(thrown.reason) || credentials.length === 0) throw thrown;
        await this.#report(credentials, true);
        if (tries === MAX_TRIES) throw thrown;
      }
    }
  }

  onToolsChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    const connected = await this.#current?.catch(() => undefined);
    await Promise.all([connected?.server.close(), ...this.#closing]);
  }

  #replace(used: Promise<Connected>): void {
    if (this.#current === used) this.#current = undefined;
  }

  /** Other calls of a connection that broke for one may still be answered there. */
  async #useOnce<T>(
    connected: Connected,
    work: (server: Required<ToolServer>) => Promise<T>,
  ): Promise<T> {
    const { server, credentials } = connected;
    connected.uses++;
    try {
      const result = await work(server);
      const isNews = !connected.isTaken;
      connected.isTaken = true;
      // The result of a call must not be lost for a note.
      if (isNews) await this.#report(credentials, false).catch(() => undefined);
      return result;
    } catch (thrown) {
      connected.isSpent ||= thrown instanceof ToolServerError;
      throw thrown;
    } finally {
      connected.uses--;
      // An interrupt does not wait for a process that takes its time to end.
      if (connected.isSpent && connected.uses === 0) this.#closing.push(server.close());
    }
  }

  async #connect(): Promise<Connected> {
    const { session, declared, deps, knownServers } = this.#options;
    const selected = await deps.credentials.select(session, declared);
    const credentials = selected ?? [];
    // The client of MCP is large, and most Agents have no server.
    const [{ createMcpToolServer }, { createMcpTransport }] = await Promise.all([
      import('./mcp-tool-server.ts'),
      import('./mcp-transport.ts'),
    ]);
    const server = createMcpToolServer({
      connect: () => createMcpTransport(declared, credentials, deps),
      known: knownServers(toKey(session, declared, credentials)),
      clock: deps.clock,
      secrets: [...credentials.map(({ value }) => value), ...ownSecrets(declared, deps)],
      sealer: deps.sealer,
      place: `mcp-call/${session.organization}/${declared.name}`,
      version: deps.version,
      deadlines: deps.deadlines,
    });
    server.onToolsChanged(() => this.#listeners.forEach((listener) => listener()));
    const isForeign = selected === undefined;
    return { server, credentials, isForeign, isTaken: false, uses: 0, isSpent: false };
  }

  async #report(credentials: readonly ToolCredential[], isRefused: boolean): Promise<void> {
    const { session, deps } = this.#options;
    for (const one of credentials) await deps.credentials.report(session, one, isRefused);
  }
}

/**
 * Facts about a server are no one's but those of the same organization with the same credentials; a new value may
 * be that of another account, which a private list must not reach (MCP 2026-07-28, caching).
 */
function toKey(
  { organization }: Session,
  { type, url, server }: AgentMcpServer,
  credentials: readonly ToolCredential[],
): string {
  const values = JSON.stringify(credentials.map(({ id, value }) => [id, value]));
  const digest = createHash('sha256').update(values).digest('base64url');
  return JSON.stringify([organization, type, url ?? server, digest]);
}

/** The same refusal, with its cause. */
function withheld(cause: ToolServerError): ToolServerError {
  const message =
    'the server asked for a credential, and those of the Agent are sent to the servers alone that the Agent itself declares; declare this one in its mcp_servers';
  return new ToolServerError('authentication', message, { cause });
}

/** Secrets that the operator gave a server that is a process. */
function ownSecrets(
  { server = '' }: AgentMcpServer,
  { stdioServers }: McpToolServersDeps,
): string[] {
  return programSecrets(stdioServers.get(server) ?? {});
}
