import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers?: IncomingHttpHeaders;
  readonly body?: string | Buffer;
}

export interface Whole {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Several addresses of one service, over connections that are kept. */
export interface KeptPool {
  /**
   * Asks the first address where somebody listens. What was sent is never sent again, but for two cases
   * that no server can rule out and every client meets: a kept connection ended before the answer
   * began (RFC 9112, 9.3.1), and the system reset a new one that waited to be accepted when the server
   * closed. The name of the request sees to it that it is done once.
   */
  open(ask: Ask): Promise<IncomingMessage>;
  /** The same, and reads the answer to its end. */
  ask(ask: Ask): Promise<Whole>;
  /** Addresses to ask before all others. */
  prefer(urls: readonly string[]): void;
  close(): void;
}

type Failure = NodeJS.ErrnoException & { readonly wasKept?: boolean };

const PATIENCE_MS = 60_000;

export function createKeptPool(urls: readonly string[]): KeptPool {
  const agents = new Map(urls.map((url) => [url, new Agent({ keepAlive: true })]));
  let preferred = urls;
  let turn = 0;

  const send = (url: string, { method, path, headers, body }: Ask): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const call = request(`${url}${path}`, { method, headers, agent: agents.get(url) });
      call.on('response', resolve).end(body);
      call.on('error', (error) => reject(Object.assign(error, { wasKept: call.reusedSocket })));
    });

  const open: KeptPool['open'] = async ({ headers, ...rest }) => {
    const ask = { ...rest, headers: { 'idempotency-key': randomUUID(), ...headers } };
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const first = turn++;
      const others = urls.filter((url) => !preferred.includes(url));
      const order = [
        ...preferred.map((_, at) => preferred[(first + at) % preferred.length]),
        ...others,
      ];
      for (const url of order) {
        try {
          return await send(url ?? '', ask);
        } catch (error) {
          if (!mayGoElsewhere(error as Failure)) throw error;
        }
      }
      if (performance.now() > deadline) throw new Error('nobody listens');
      await pause(20);
    }
  };
  return {
    open,
    async ask(ask) {
      const answer = await open(ask);
      let text = '';
      for await (const piece of answer.setEncoding('utf8')) text += String(piece);
      return { status: answer.statusCode ?? 0, headers: answer.headers, text };
    },
    prefer: (chosen) => void (preferred = chosen.length > 0 ? chosen : urls),
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

/** A connection that a server ends itself shows no system call: nothing excuses that on a new one. */
function mayGoElsewhere({ code, syscall, wasKept }: Failure): boolean {
  if (code === 'ECONNRESET') return wasKept === true || syscall !== undefined;
  return code === 'ECONNREFUSED';
}
