import { Agent, request } from 'node:http';
import type { GatewayNode } from './gateway-node.ts';

/**
 * No answer takes longer than this of a gateway that runs; real milliseconds, without those in which another
 * one held it up.
 */
export const HANG_MS = 25_000;
/** A gateway that does not even answer at once under this is not asked for more of the same. */
const MAX_SOCKETS = 64;

/** What came of one request, or did not. */
export interface Reply {
  readonly node: GatewayNode;
  /** Kind of operation: `chat`, `session.create` … */
  readonly what: string;
  /** 0: no answer came. */
  readonly status: number;
  /** Parsed JSON, else the text; as far as it came. */
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies of every shape
  readonly body: any;
  readonly requestId: string;
  /** The whole body came. */
  readonly isWhole: boolean;
  readonly problem: string;
  /** On the clock of the machine. */
  readonly sentAt: number;
  readonly doneAt: number;
}

export interface CallOptions {
  readonly key: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** The client leaves after so many milliseconds. */
  readonly leaveAfterMs?: number;
}

export interface Caller {
  call(node: GatewayNode, what: string, line: string, options: CallOptions): Promise<Reply>;
  close(): void;
}

export interface CallerOptions {
  onReply(reply: Reply): void;
  /** For how long others held it up. */
  heldUpMs(call: Pick<Reply, 'sentAt' | 'doneAt'>): number;
}

/** Calls gateways over connections that stay open; never rejects. */
export function createCaller({ onReply, heldUpMs }: CallerOptions): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  return {
    // oxlint-disable-next-line max-params -- who is asked, what for, and what is said
    async call(node, what, line, options) {
      const reply = await send(agent, { node, what, line, heldUpMs, ...options });
      onReply(reply);
      return reply;
    },
    close: () => agent.destroy(),
  };
}

interface Sending extends CallOptions, Pick<CallerOptions, 'heldUpMs'> {
  readonly node: GatewayNode;
  readonly what: string;
  /** Method and path. */
  readonly line: string;
}

function send(agent: Agent, sending: Sending): Promise<Reply> {
  const { node, what, line, key, body, leaveAfterMs, heldUpMs } = sending;
  const [method = 'GET', path = '/'] = line.split(' ');
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const sentAt = Date.now();
  return new Promise((resolve) => {
    let status = 0;
    let requestId = '';
    let text = '';
    let isDone = false;
    const finish = (problem: string): void => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      const isWhole = problem === '';
      const parsed = jsonOr(text);
      const times = { sentAt, doneAt: Date.now() };
      resolve({ node, what, status, requestId, body: parsed, isWhole, problem, ...times });
      if (!isWhole) sent.destroy();
    };
    const headers = {
      authorization: `Bearer ${key}`,
      ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
      ...sending.headers,
    };
    const sent = request(node.url + path, { agent, method, headers }, (answer) => {
      status = answer.statusCode ?? 0;
      requestId = String(answer.headers['x-request-id'] ?? '');
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => finish(''));
      answer.on('error', (error) => finish(String(error)));
      answer.on('close', () => finish('cut'));
    });
    let timer: NodeJS.Timeout;
    const wait = (ms: number): void => void (timer = setTimeout(lookAtClock, ms));
    const lookAtClock = (): void => {
      const doneAt = Date.now();
      const left = HANG_MS + heldUpMs({ sentAt, doneAt }) - (doneAt - sentAt);
      if (leaveAfterMs === undefined && left > 0) wait(left);
      else finish('left');
    };
    wait(leaveAfterMs ?? HANG_MS);
    sent.on('error', (error) => finish(String(error)));
    sent.end(bytes);
  });
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
