import { once } from 'node:events';
import { createServer } from 'node:http';
import { systemClock } from '../../core/time/clock.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { CassetteInput } from './tape/cassette.ts';
import { createMockEngine } from './engine.ts';
import type { MockEngine } from './engine.ts';
import { createMockListener } from './listener.ts';

/** Address of the mock, and its answers. */
export interface MockServerOptions {
  /** Default 127.0.0.1: the mock checks no key. */
  host?: string;
  /** Default 0: the system picks one. */
  port?: number;
  cassette?: CassetteInput;
  /** Default: the system's. */
  clock?: Clock;
}

/** A mock that listens. */
export interface MockServer {
  /** Address without a trailing slash; `/v1` belongs to the client's base URL. */
  url: string;
  engine: MockEngine;
  /** Closes the port and every connection. */
  close(): Promise<void>;
}

/**
 * Starts the mock as a server of its own. Throws `unprocessable` for an invalid cassette and rejects
 * with the system's error when the address cannot be bound.
 *
 * @example
 * ```ts
 * import { startMockServer } from 'agent-gateway';
 *
 * const rules = [{ match: { text: 'weather' }, reply: { text: 'It rains.' } }];
 * const mock = await startMockServer({ cassette: { rules } });
 * const body = { model: 'any', messages: [{ role: 'user', content: 'What is the weather?' }] };
 * const init = { method: 'POST', body: JSON.stringify(body) };
 * console.log(await (await fetch(`${mock.url}/v1/chat/completions`, init)).json());
 * await mock.close();
 * ```
 */
export async function startMockServer(options: MockServerOptions = {}): Promise<MockServer> {
  const { host = '127.0.0.1', port = 0, cassette, clock = systemClock } = options;
  const engine = createMockEngine({ cassette, clock });
  const server = createServer(createMockListener(engine, clock));
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    engine,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
