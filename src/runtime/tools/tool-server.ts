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

/** A question that a server has before it completes a call: a form (elicitation of MCP). */
export interface ToolQuestion {
  /** Name that the server gives it in this call. */
  readonly key: string;
  readonly message: string;
  /** JSON Schema of the answer, an object of plain values. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Questions of a call that waits for their answers. It is not under way meanwhile. */
export interface ToolQuestions<Resumption = string> {
  readonly questions: readonly ToolQuestion[];
  /** What the call needs to be continued, sealed: clients read the log, and this is between two servers. */
  readonly resume: Resumption;
}

/** Answers to the questions of a call, by key, in the form of the protocol. */
export interface ToolAnswers<Resumption = string> {
  readonly responses: Readonly<Record<string, unknown>>;
  readonly resume: Resumption;
}

/** A call to be made again, with the answers to its questions. */
export interface AnsweredCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly answers: ToolAnswers;
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
  ): Promise<ToolOutcome | ToolQuestions>;
  /** The same for a call that resolved with questions. Absent where none does. */
  answer?(call: AnsweredCall, signal: AbortSignal): Promise<ToolOutcome | ToolQuestions>;
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
  /**
   * `rate` is a refusal for now, by its own limits; `tools`: some of its tools cannot be offered; `stale`: the
   * server no longer knows the session or revision of the connection, and refused the request unread.
   */
  readonly reason: 'connection' | 'authentication' | 'rate' | 'tools' | 'stale';

  constructor(
    reason: ToolServerError['reason'],
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.reason = reason;
  }
}
