import type { AgentMcpServer } from '../../sessions/resolved-agent.ts';
import type { Session } from '../../sessions/session.ts';

/** A tool as its server lists it. */
export interface ServerTool {
  readonly name: string;
  readonly description: string | undefined;
  /** JSON Schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The server says that a call changes nothing. */
  readonly isReadOnly: boolean;
  /** The server says that a repeated call changes nothing more. */
  readonly isIdempotent: boolean;
  /** Reason not to offer it to models. Absent: it can. */
  readonly refusal?: string | undefined;
}

/** Result of a call as content blocks of an event. */
export interface ToolOutcome {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly isError: boolean;
}

/** A connection to a server of tools, for one go of a turn. */
export interface ToolServer {
  /** All of them. Rejects with {@link ToolServerError}. */
  list(signal: AbortSignal): Promise<readonly ServerTool[]>;
  /**
   * An error that the tool or the server returns for the call is an outcome. Rejects with
   * {@link ToolServerError} where the server could not be asked, or its answer was lost.
   */
  call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ToolOutcome>;
  /** Runs when the server says that its tools have changed. */
  onToolsChanged?(listener: () => void): void;
  /** Ends its process, if it has one. Never rejects. */
  close(): Promise<void>;
}

/** Connects to the servers that Agents declare. */
export interface ToolServers {
  /** Connects at the first call; never rejects. */
  open(session: Session, server: AgentMcpServer): ToolServer;
}

/** A server of tools cannot be used; the message is fit for the client. */
export class ToolServerError extends Error {
  override readonly name = 'ToolServerError';
  /** `rate` is a refusal for now, by its own limits; `tools`: some of its tools cannot be offered. */
  readonly reason: 'connection' | 'authentication' | 'rate' | 'tools';

  constructor(
    reason: ToolServerError['reason'],
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.reason = reason;
  }
}
