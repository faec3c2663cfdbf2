import { parseJson } from '../../core/json/value.ts';
import { addAbortSignal, Readable } from 'node:stream';
import { fromErrorBody } from '../../client/http/error-body.ts';
import { isRecord } from '../../client/http/guards.ts';
import { BridgeTraffic } from './bridge-traffic.ts';
import { CliError } from '../cli-error.ts';
import type { CommandResult } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { linesOf } from '../output/json-lines.ts';
import { lookUp } from '../resources/not-found.ts';

/** A protocol of JSON-RPC messages: over stdio one a line, towards the Service one a POST. */
export interface BridgedProtocol {
  readonly name: 'mcp' | 'acp';
  /** Headers of a message in addition to the key. */
  headers(message: unknown): Record<string, string>;
  /** True for a request that ends with its connection: only that takes it back. Default: none. */
  endsWithConnection?(message: unknown): boolean;
  /** Receives the head of every answer, and with it that of all messages in it. */
  onHead(headers: Headers): void;
  onMessage(message: unknown): void;
  /** True while the Service keeps a session that only a DELETE ends. */
  isOpen(): boolean;
}

interface Line {
  readonly text: string;
  readonly message: unknown;
}

interface Bridge {
  readonly context: CommandContext;
  readonly protocol: BridgedProtocol;
  /** Sends a line with the key, and the headers of the message in it. */
  send(method: string, line: Line | undefined, signal: AbortSignal): Promise<Response>;
  /** By the id of a request that ends with its connection. */
  readonly connections: Map<string, AbortController>;
  /** Ends the bridge. */
  readonly stop: AbortController;
  readonly traffic: BridgeTraffic;
  failure: CliError | undefined;
}

/** Milliseconds after the end of stdin until unanswered messages are given up. */
const GRACE_MS = 2_000;
const CLOSE_MS = 1_000;
const INTERNAL_ERROR = -32603;
const PARSE_ERROR = -32700;

/**
 * Carries messages between stdio and a Service; stdout holds them and nothing else (requirement
 * bridges.stdio). Ends when stdin ends, and fails when the gateway cannot be reached any more.
 */
export async function runBridge(
  context: CommandContext,
  service: string,
  protocol: BridgedProtocol,
): Promise<CommandResult> {
  const bridge = await openBridge(context, service, protocol);
  const { stop, traffic } = bridge;
  const { signal } = stop;
  const onSignal = (): void => stop.abort();
  context.signal.addEventListener('abort', onSignal, { once: true });
  try {
    for await (const line of stdinLines(context, signal)) {
      // Messages keep their order: a cancel must not overtake its target.
      const answer = await post(line, bridge, signal);
      traffic.carry(answer());
      await traffic.room();
    }
    const timer = context.clock.setTimeout(() => stop.abort(), GRACE_MS);
    await traffic.ended();
    timer.cancel();
  } finally {
    stop.abort();
    context.signal.removeEventListener('abort', onSignal);
    if (protocol.isOpen() && !bridge.failure)
      await bridge.send('DELETE', undefined, AbortSignal.timeout(CLOSE_MS)).catch(() => undefined);
  }
  if (bridge.failure) throw bridge.failure;
  return { streamed: true, data: null };
}

async function openBridge(
  context: CommandContext,
  service: string,
  protocol: BridgedProtocol,
): Promise<Bridge> {
  const client = await context.connect();
  const { server, apiKey } = await context.connection();
  const id = await lookUp({ kind: 'services', named: service, isOwn: true }, () =>
    client.services.find(service, context.signal),
  );
  const url = `${server}/v1/endpoints/${encodeURIComponent(id)}/${protocol.name}`;
  const fetch = context.io.fetch ?? globalThis.fetch;
  context.output.debug(`${protocol.name} at ${url}`);
  return {
    context,
    protocol,
    stop: new AbortController(),
    traffic: new BridgeTraffic(),
    connections: new Map(),
    failure: undefined,
    send: (method, line, signal) =>
      fetch(url, {
        method,
        signal,
        headers: {
          accept: 'application/json, application/x-ndjson',
          authorization: `Bearer ${apiKey}`,
          ...(line && { 'content-type': 'application/json' }),
          ...protocol.headers(line?.message),
        },
        ...(line && { body: line.text }),
      }),
  };
}

async function* stdinLines({ io }: CommandContext, signal: AbortSignal): AsyncGenerator<string> {
  if (io.stdin instanceof Readable) addAbortSignal(signal, io.stdin);
  try {
    yield* linesOf(io.stdin);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}

/** Sends one line; gives what carries its answer to stdout. Neither rejects. */
async function post(text: string, bridge: Bridge, stop: AbortSignal): Promise<() => Promise<void>> {
  const { context, protocol, send, traffic, connections } = bridge;
  const message = parseJson(text);
  if (message === undefined)
    return () => tell(context, null, { code: PARSE_ERROR, message: 'not a JSON value' });
  const isReply = isRecord(message) && !('method' in message);
  const id = isRecord(message) && !isReply ? message['id'] : undefined;
  if (isReply) traffic.replied(message['id']);
  if (takesBack(message, connections)) return async () => undefined;
  const key = JSON.stringify(id);
  const connection = new AbortController();
  if (id !== undefined && protocol.endsWithConnection?.(message)) connections.set(key, connection);
  const signal = AbortSignal.any([stop, connection.signal]);
  const forget = (): void => void connections.delete(key);
  const fail = async (thrown: unknown): Promise<void> => {
    if (signal.aborted) return;
    const cause = thrown instanceof Error ? thrown : undefined;
    bridge.failure ??= new CliError({
      code: 'connection_lost',
      message: 'the gateway can no longer be reached',
      exit: 'unknown_outcome',
      cause,
    });
    await tell(context, id, { code: INTERNAL_ERROR, message: bridge.failure.message });
    bridge.stop.abort();
  };
  try {
    const response = await send('POST', { text, message }, signal);
    protocol.onHead(response.headers);
    return () => carry(response, id, bridge).catch(fail).finally(forget);
  } catch (thrown) {
    return () => fail(thrown).finally(forget);
  }
}

/** Closes the connection of the request that a message takes back. */
function takesBack(message: unknown, connections: Bridge['connections']): boolean {
  if (!isRecord(message) || message['method'] !== 'notifications/cancelled') return false;
  const { requestId } = isRecord(message['params']) ? message['params'] : {};
  const connection = connections.get(JSON.stringify(requestId));
  connection?.abort();
  return connection !== undefined;
}

async function carry(
  response: Response,
  id: unknown,
  { context, protocol, traffic }: Bridge,
): Promise<void> {
  if (!response.ok) return tell(context, id, errorOf(response.status, await response.text()));
  if (!response.body) return;
  const asked: unknown[] = [];
  try {
    for await (const line of linesOf(response.body)) {
      const message = parseJson(line);
      protocol.onMessage(message);
      if (isRecord(message) && 'method' in message && 'id' in message) {
        asked.push(message['id']);
        traffic.asked(message['id']);
      }
      await context.output.print(line.trim());
    }
  } finally {
    for (const one of asked) traffic.replied(one);
  }
}

/** The error of an answer without a JSON-RPC message, as a JSON-RPC error. */
function errorOf(status: number, text: string): object {
  const body = parseJson(text);
  if (isRecord(body) && body['jsonrpc'] === '2.0' && isRecord(body['error'])) return body['error'];
  const { code, message } = fromErrorBody(status, text);
  return { code: INTERNAL_ERROR, message, data: { status, code } };
}

/** A notification has no answer: its error goes to stderr. */
async function tell({ output }: CommandContext, id: unknown, error: object): Promise<void> {
  const message = JSON.stringify({ jsonrpc: '2.0', id, error });
  if (id === undefined) output.note(message);
  else await output.print(message);
}
