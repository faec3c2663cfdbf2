import type { AgentMcpServer } from '../../sessions/resolved-agent.ts';
import type { Session } from '../../sessions/session.ts';
import { createMcpToolServer } from './mcp-tool-server.ts';
import { createMcpTransport } from './mcp-transport.ts';
import type { McpTransportDeps } from './mcp-transport.ts';
import type { ToolCredential, ToolCredentials } from './tool-credentials.ts';
import { ToolServerError } from './tool-server.ts';
import type { ToolServer, ToolServers } from './tool-server.ts';

export interface McpToolServersDeps extends McpTransportDeps {
  credentials: ToolCredentials;
  /** Of the gateway, as servers are told it. */
  version: string;
}

/** Credentials that are tried in a row for one call. */
const MAX_TRIES = 3;

interface Connected {
  readonly server: ToolServer;
  readonly credentials: readonly ToolCredential[];
  /** The server took the credentials. */
  isTaken: boolean;
}

/**
 * Servers over streamable HTTP at addresses that the guard lets through, and processes that the
 * operator declared. A credential that the server refuses gives way to the next of its group: such a
 * call was not carried out.
 */
export function createMcpToolServers(deps: McpToolServersDeps): ToolServers {
  return {
    open(session, declared) {
      const connections = new Connections({ session, declared, deps });
      return {
        list: (signal) => connections.use((server) => server.list(signal)),
        call: (name, input, signal) =>
          connections.use((server) => server.call(name, input, signal)),
        close: () => connections.close(),
      };
    },
  };
}

interface ConnectionsOptions {
  readonly session: Session;
  readonly declared: AgentMcpServer;
  readonly deps: McpToolServersDeps;
}

/** The one connection that is in use, replaced when its credential is refused. */
class Connections {
  readonly #options: ConnectionsOptions;
  #current: Promise<Connected> | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  async use<T>(work: (server: ToolServer) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const used = (this.#current ??= this.#connect());
      const connected = await used.catch((thrown: unknown) => {
        if (this.#current === used) this.#current = undefined;
        throw thrown;
      });
      const { server, credentials } = connected;
      try {
        const result = await work(server);
        const isNews = !connected.isTaken;
        connected.isTaken = true;
        // The result of a call must not be lost for a note.
        if (isNews) await this.#report(credentials, false).catch(() => undefined);
        return result;
      } catch (thrown) {
        if (!(thrown instanceof ToolServerError)) throw thrown;
        // Whatever went wrong, this connection has had its day.
        if (this.#current === used) this.#current = undefined;
        await server.close();
        if (thrown.reason === 'connection' || credentials.length === 0) throw thrown;
        await this.#report(credentials, true);
        if (tries === MAX_TRIES) throw thrown;
      }
    }
  }

  async close(): Promise<void> {
    const connected = await this.#current?.catch(() => undefined);
    await connected?.server.close();
  }

  async #connect(): Promise<Connected> {
    const { session, declared, deps } = this.#options;
    const credentials = await deps.credentials.select(session, declared);
    const server = createMcpToolServer({
      connect: () => createMcpTransport(declared, credentials, deps),
      secrets: credentials.map(({ value }) => value),
      version: deps.version,
    });
    return { server, credentials, isTaken: false };
  }

  async #report(credentials: readonly ToolCredential[], isRefused: boolean): Promise<void> {
    const { session, deps } = this.#options;
    for (const one of credentials) await deps.credentials.report(session, one, isRefused);
  }
}
