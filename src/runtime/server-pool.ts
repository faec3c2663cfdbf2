import type { Session } from '../sessions/session.ts';
import { ToolServerError } from './tools/tool-server.ts';
import type { ServerTool, ToolServer, ToolServers } from './tools/tool-server.ts';

export interface ServerFailure {
  readonly server: string;
  readonly error: ToolServerError;
}

/** The connections to the servers of an Agent while its Session is at work. */
export class ServerPool {
  readonly #session: Session;
  readonly #servers: ToolServers;
  readonly #open = new Map<string, ToolServer>();
  readonly #listed = new Map<string, readonly ServerTool[]>();
  readonly #failed = new Set<string>();

  constructor(session: Session, servers: ToolServers) {
    this.#session = session;
    this.#servers = servers;
  }

  /**
   * The tools of all servers that the Agent uses, and the servers that could not be asked: those are
   * named once and left alone until {@link forgive}.
   */
  async list(
    signal: AbortSignal,
  ): Promise<{ tools: ReadonlyMap<string, readonly ServerTool[]>; failures: ServerFailure[] }> {
    const names = this.#session.agent.tools.flatMap((tool) =>
      tool.type === 'mcp_toolset' ? [tool.mcp_server_name] : [],
    );
    const failures = await Promise.all([...new Set(names)].map((name) => this.#list(name, signal)));
    return { tools: this.#listed, failures: failures.flatMap((failure) => failure ?? []) };
  }

  /** Asks all servers again. */
  forgive(): void {
    this.#failed.clear();
  }

  /** The server's own word for the tool; undefined where it cannot be asked. */
  async describe(
    server: string,
    name: string,
    signal: AbortSignal,
  ): Promise<ServerTool | undefined> {
    await this.#list(server, signal);
    return this.#listed.get(server)?.find((tool) => tool.name === name);
  }

  /** Rejects with `ToolServerError` for a server that is not declared any more, too. */
  get(name: string): ToolServer {
    const opened = this.#open.get(name);
    if (opened) return opened;
    const declared = this.#session.agent.mcp_servers.find((server) => server.name === name);
    if (!declared) throw new ToolServerError('connection', 'the Agent declares no such server');
    const server = this.#servers.open(this.#session, declared);
    this.#open.set(name, server);
    return server;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((server) => server.close()));
  }

  async #list(name: string, signal: AbortSignal): Promise<ServerFailure | undefined> {
    if (this.#listed.has(name) || this.#failed.has(name)) return undefined;
    try {
      this.#listed.set(name, await this.get(name).list(signal));
      return undefined;
    } catch (error) {
      if (signal.aborted || !(error instanceof ToolServerError)) throw error;
      this.#failed.add(name);
      return { server: name, error };
    }
  }
}
