import type { Session } from '../../sessions/session.ts';
import { ToolServerError } from './tool-server.ts';
import type { ServerTool, ToolServer, ToolServers } from './tool-server.ts';
import { toVisibleName } from './visible-name.ts';

export interface ServerFailure {
  readonly server: string;
  readonly error: ToolServerError;
}

/** Tools that one notice names. */
const MAX_NAMED = 5;

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
   * named once and skipped until {@link forgive}. A server with tools that are left out is named
   * with every list.
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
    server.onToolsChanged?.(() => this.#listed.delete(name));
    return server;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((server) => server.close()));
  }

  async #list(name: string, signal: AbortSignal): Promise<ServerFailure | undefined> {
    if (this.#listed.has(name) || this.#failed.has(name)) return undefined;
    try {
      const tools = await this.get(name).list(signal);
      const told = tools.map((tool) => this.#withRefusal(name, tool));
      this.#listed.set(
        name,
        told.filter(({ refusal }) => refusal === undefined),
      );
      return toNotice(name, told);
    } catch (error) {
      if (signal.aborted || !(error instanceof ToolServerError)) throw error;
      this.#failed.add(name);
      return { server: name, error };
    }
  }

  /** Hides a server's tool whose name the Agent itself declares. */
  #withRefusal(server: string, tool: ServerTool): ServerTool {
    const visible = toVisibleName(server, tool.name);
    const { tools } = this.#session.agent;
    const isTaken = tools.some((one) => one.type === 'custom' && one.name === visible);
    return isTaken ? { ...tool, refusal: 'another tool of the Agent has its name' } : tool;
  }
}

/** Undefined where no tool is left out. */
function toNotice(server: string, tools: readonly ServerTool[]): ServerFailure | undefined {
  const reasons = tools.flatMap(({ name, refusal }) =>
    refusal === undefined ? [] : [`${JSON.stringify(name)} (${refusal})`],
  );
  if (reasons.length === 0) return undefined;
  const more = reasons.length > MAX_NAMED ? ` and ${reasons.length - MAX_NAMED} more` : '';
  const named = reasons.slice(0, MAX_NAMED).join(', ');
  return { server, error: new ToolServerError('tools', `tools are left out: ${named}${more}`) };
}
