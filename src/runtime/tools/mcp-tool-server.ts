import {
  Client,
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client';
import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { toPublicMessage } from '../../core/redact.ts';
import type { Sealer } from '../../core/seal.ts';
import type { Clock } from '../../core/time/clock.ts';
import { UrlGuardError } from '../../upstream/guard/url-guard-error.ts';
import { MAX_KNOWN_MS } from './known-servers.ts';
import type { KnownServer } from './known-servers.ts';
import { listTools } from './list-tools.ts';
import { givenOf, MODERN_META, ModernCall } from './modern-calls.ts';
import type { Resumption } from './modern-calls.ts';
import { readParamHeaders, toParamHeaders } from './param-headers.ts';
import { fromMcpResult, toFailedOutcome } from './tool-content.ts';
import { ToolServerError } from './tool-server.ts';
import type {
  ServerTool,
  AnsweredCall,
  ToolAnswers,
  ToolOutcome,
  ToolQuestions,
  ToolServer,
} from './tool-server.ts';
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
  readonly known: KnownServer;
  readonly clock: Clock;
  /** Never shown, whatever the server says. */
  readonly secrets: readonly string[];
  /** Seals what a call needs to be continued, for this server. */
  readonly sealer: Sealer;
  readonly place: string;
  /** Version of the gateway, sent to servers. */
  readonly version: string;
  /** Default: 20 seconds to connect and to list, five minutes for a call. */
  readonly deadlines?: ToolDeadlines | undefined;
}

const DEADLINES: ToolDeadlines = { connect: 20_000, list: 20_000, call: 300_000 };
/** Parts of the time to connect after which a silent server gets the handshake of former revisions. */
const PROBE_PARTS = { process: 1 / 4, address: 1 / 2 };
/** Characters of a list that is kept. */
const MAX_KEPT = 256 * 1024;
/** Code of JSON-RPC for a call whose headers are not those of its tool (MCP 2026-07-28); it was not made. */
const HEADER_MISMATCH = -32_020;

// Results are passed on as far as they can be.
const resultSchema = z.looseObject({});

interface Connection {
  readonly client: Client;
  readonly transport: ToolTransport;
  readonly isModern: boolean;
  /** Its revision was not asked for, but known before. */
  readonly isRemembered: boolean;
}

interface Limits {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

type Input = Readonly<Record<string, unknown>>;

/**
 * A server that speaks MCP, through the official client: in the newest revision that it knows, else with the
 * handshake of the former ones.
 */
export function createMcpToolServer(options: McpToolServerOptions): Required<ToolServer> {
  return new McpToolServer(options);
}

class McpToolServer implements Required<ToolServer> {
  readonly #options: McpToolServerOptions;
  readonly #deadlines: ToolDeadlines;
  readonly #listeners: (() => void)[] = [];
  #opened: Promise<Connection> | undefined;
  /** Tools of the last list of this connection. */
  #listed: readonly ServerTool[] = [];

  constructor(options: McpToolServerOptions) {
    this.#options = options;
    this.#deadlines = options.deadlines ?? DEADLINES;
  }

  async list(signal: AbortSignal): Promise<readonly ServerTool[]> {
    const kept = this.#options.known.tools.get();
    return kept ?? this.#use(signal, (connected) => this.#list(connected, signal));
  }

  call(name: string, input: Input, signal: AbortSignal): Promise<ToolOutcome | ToolQuestions> {
    return this.#run({ name, input, answers: undefined }, signal);
  }

  answer(call: AnsweredCall, signal: AbortSignal): Promise<ToolOutcome | ToolQuestions> {
    return this.#run(call, signal);
  }

  onToolsChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    const connected = await this.#opened?.catch(() => undefined);
    if (connected) await end(connected);
  }

  #run(call: Call, signal: AbortSignal): Promise<ToolOutcome | ToolQuestions> {
    return this.#use(signal, async (connected) => {
      const run = () => this.#call(connected, call, signal);
      try {
        return await run().catch(async (thrown: unknown) => {
          if (!(thrown instanceof ProtocolError) || thrown.code !== HEADER_MISMATCH) throw thrown;
          await this.#list(connected, signal);
          return run();
        });
      } catch (thrown) {
        signal.throwIfAborted();
        return toOutcome(thrown, connected, this.#options.secrets);
      }
    });
  }

  async #use<T>(signal: AbortSignal, work: (connected: Connection) => Promise<T>): Promise<T> {
    const { known, secrets } = this.#options;
    const onToolsChanged = (): void => {
      known.tools.forget();
      for (const listener of this.#listeners) listener();
    };
    try {
      this.#opened ??= connect(this.#options, { signal, onToolsChanged });
      return await work(await this.#opened);
    } catch (thrown) {
      const error = toServerError(thrown, secrets);
      if (!signal.aborted && error.reason !== 'authentication' && error.reason !== 'rate')
        known.revision.forget();
      throw error;
    }
  }

  async #list(connected: Connection, signal: AbortSignal): Promise<readonly ServerTool[]> {
    const limits = { signal, timeout: this.#deadlines.list };
    const { tools, ttlMs } = await listTools({
      ask: (params) => ask(connected, { method: 'tools/list', params }, limits),
      hasParamHeaders: hasParamHeaders(connected),
    }).catch((thrown: unknown) => {
      throw faultOf(thrown, connected) ?? thrown;
    });
    this.#listed = tools;
    if (ttlMs > 0 && JSON.stringify(tools).length <= MAX_KEPT)
      this.#options.known.tools.set(tools, ttlMs);
    return tools;
  }

  async #call(
    connected: Connection,
    { name, input, answers }: Call,
    signal: AbortSignal,
  ): Promise<ToolOutcome | ToolQuestions> {
    const { clock, secrets, known, sealer, place } = this.#options;
    const { call, list } = this.#deadlines;
    const params = { name, arguments: { ...input } };
    const tool = (known.tools.get() ?? this.#listed).find((one) => one.name === name);
    const paths =
      tool && hasParamHeaders(connected) ? readParamHeaders(tool.inputSchema) : undefined;
    const limits = { signal, timeout: call, headers: paths && toParamHeaders(paths, input) };
    const askCall = (sent: Input) => ask(connected, { method: 'tools/call', params: sent }, limits);
    if (!connected.isModern) return fromMcpResult(await askCall(params), secrets);
    const resume = answers && (JSON.parse(sealer.open(answers.resume, place)) as Resumption);
    const outcome = await new ModernCall(params, answers && resume && { ...answers, resume }, {
      clock,
      secrets,
      signal,
      ask: (method, sent, until = signal) =>
        method === 'tools/call'
          ? askCall(sent)
          : ask(connected, { method, params: sent }, { signal: until, timeout: list }),
    }).run();
    return 'questions' in outcome
      ? { ...outcome, resume: sealer.seal(JSON.stringify(outcome.resume), place) }
      : outcome;
  }
}

interface Call extends Omit<AnsweredCall, 'answers'> {
  readonly answers: ToolAnswers | undefined;
}

async function ask(
  { client, isModern }: Connection,
  { method, params }: { readonly method: string; readonly params: Input },
  { signal, timeout, headers }: Limits,
): Promise<Input> {
  const sent = isModern ? { ...params, _meta: MODERN_META } : params;
  const options = { signal, timeout, maxTotalTimeout: timeout, allowInputRequired: true };
  const result = await client.request({ method, params: sent }, resultSchema, {
    ...options,
    ...(headers && { headers }),
  });
  return givenOf(result);
}

/** A process is a connection without headers. */
function hasParamHeaders({ isModern, transport }: Connection): boolean {
  return isModern && !isProcess(transport);
}

function isProcess(transport: ToolTransport): boolean {
  return 'pid' in transport;
}

async function connect(
  options: McpToolServerOptions,
  { signal, onToolsChanged }: { signal: AbortSignal; onToolsChanged: () => void },
  older?: PriorDiscovery,
): Promise<Connection> {
  const { known, version, deadlines: { connect: timeout } = DEADLINES } = options;
  const remembered = known.revision.get();
  const prior = older ?? remembered;
  const transport = await options.connect();
  const timeoutMs = timeout * PROBE_PARTS[isProcess(transport) ? 'process' : 'address'];
  const client = new Client(
    { name: 'agent-gateway', version },
    { versionNegotiation: { mode: 'auto', probe: { timeoutMs } } },
  );
  client.setNotificationHandler('notifications/tools/list_changed', onToolsChanged);
  const leave = (): void => void transport.close();
  signal.addEventListener('abort', leave, { once: true });
  try {
    await client.connect(transport, { signal, timeout, ...(prior && { prior }) });
  } catch (thrown) {
    const connected = { client, transport, isModern: false, isRemembered: false };
    const fault = faultOf(thrown, connected);
    await end(connected);
    // Some servers fail, end or fall silent at a request before their handshake.
    const isOlder = isFailedProbe(thrown) || timeOf(thrown) === timeoutMs;
    if (isOlder && !prior && !signal.aborted)
      return connect(options, { signal, onToolsChanged }, { kind: 'legacy' });
    throw fault ?? (remembered && isRefusal(thrown) ? stale(thrown) : thrown);
  } finally {
    signal.removeEventListener('abort', leave);
  }
  const discover = client.getDiscoverResult();
  if (!remembered)
    known.revision.set(discover ? { kind: 'modern', discover } : { kind: 'legacy' }, MAX_KNOWN_MS);
  if (discover?.capabilities.tools?.listChanged)
    void client.listen({ toolsListChanged: true }, { timeout }).catch(() => undefined);
  return {
    client,
    transport,
    isModern: discover !== undefined,
    isRemembered: remembered !== undefined,
  };
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
  connected: Connection,
  secrets: readonly string[],
): ToolOutcome {
  const fault = faultOf(thrown, connected);
  if (fault) throw fault;
  if (!(thrown instanceof ProtocolError) && !isWrongAnswer(thrown)) throw thrown;
  return toFailedOutcome(toPublicMessage(thrown.message, { secrets }));
}

const WRONG_ANSWERS: readonly SdkErrorCode[] = [
  SdkErrorCode.RequestTimeout,
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
];

function isWrongAnswer(thrown: unknown): thrown is SdkError {
  return thrown instanceof SdkError && WRONG_ANSWERS.includes(thrown.code);
}

/** Milliseconds after which the client gave up. */
function timeOf(thrown: unknown): unknown {
  const isLate = thrown instanceof SdkError && thrown.code === SdkErrorCode.RequestTimeout;
  return isLate ? (thrown.data as { timeout?: unknown } | undefined)?.timeout : undefined;
}

function isFailedProbe(thrown: unknown): boolean {
  return thrown instanceof SdkError && thrown.code === SdkErrorCode.EraNegotiationFailed;
}

/** The fault that an error of the client comes from; undefined for an error that the server itself gives. */
function faultOf(thrown: unknown, connected: Connection): ToolServerError | undefined {
  if (isStale(thrown, connected)) return stale(thrown);
  if (thrown instanceof ProtocolError)
    return thrown.data instanceof ToolServerError ? thrown.data : undefined;
  const isClosed = thrown instanceof SdkError && thrown.code === SdkErrorCode.ConnectionClosed;
  const { transport } = connected;
  return isClosed || (isProcess(transport) && isFailedProbe(thrown)) ? transport.fault : undefined;
}

/** Statuses for a request that the server does not understand. */
const UNKNOWN: readonly number[] = [400, 404, 405];

/**
 * True where the server lost the session of the connection (404, of many servers 400), or is not of the revision
 * that it had: it refused the request without having carried it out.
 */
function isStale(thrown: unknown, { transport, isModern, isRemembered }: Connection): boolean {
  if (thrown instanceof UnsupportedProtocolVersionError) return isRemembered;
  if (!(thrown instanceof SdkHttpError)) return false;
  const { status, text } = thrown.data;
  if (transport.sessionId === undefined)
    return isModern && isRemembered && UNKNOWN.includes(status);
  return status === 404 || (status === 400 && /session/i.test(String(text)));
}

function isRefusal(thrown: unknown): boolean {
  return (
    thrown instanceof ProtocolError ||
    (thrown instanceof SdkHttpError && UNKNOWN.includes(thrown.status))
  );
}

function stale(cause: unknown): ToolServerError {
  const message = 'the server no longer knows the session or revision of the connection';
  return new ToolServerError('stale', message, { cause });
}

function toServerError(thrown: unknown, secrets: readonly string[]): ToolServerError {
  const known = findCause(thrown, (one) => one instanceof ToolServerError);
  if (known) return known as ToolServerError;
  const status = thrown instanceof SdkHttpError ? thrown.status : undefined;
  if (thrown instanceof InsufficientScopeError || status === 401 || status === 403)
    return new ToolServerError('authentication', 'the server refused the credential', {
      cause: thrown,
    });
  if (status === 429)
    return new ToolServerError('rate', 'the server accepts no more requests at the moment', {
      cause: thrown,
    });
  return new ToolServerError('connection', toPublicMessage(reasonOf(thrown, status), { secrets }), {
    cause: thrown,
  });
}

function reasonOf(thrown: unknown, status = 0): string {
  const refused = findCause(thrown, (one) => one instanceof UrlGuardError);
  if (refused) return refused.message;
  if (status >= 300 && status < 400)
    return 'the server redirects to another origin; declare the address that it names';
  return timeOf(thrown) !== undefined
    ? 'the server did not answer in time'
    : 'the server cannot be reached';
}

/** The error itself or the first of its causes that fits. */
function findCause(thrown: unknown, fits: (one: Error) => boolean): Error | undefined {
  for (let one = thrown; one instanceof Error; one = one.cause) if (fits(one)) return one;
  return undefined;
}
