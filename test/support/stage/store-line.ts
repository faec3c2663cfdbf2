import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A line to a database that can be cut, or fall silent. */
export interface StoreLine {
  readonly url: string;
  /** Ends every connection and takes no new one. */
  cut(): void;
  /** Passes nothing on any more, and ends nothing. */
  stall(): void;
  /** Takes connections again; those that fell silent stay so. */
  mend(): void;
  close(): Promise<void>;
}

export async function startStoreLine(target: string): Promise<StoreLine> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let state: 'up' | 'down' | 'silent' = 'up';
  const server = createServer((near) => {
    if (state === 'down') {
      near.destroy();
      return;
    }
    open.add(near);
    near.on('error', () => undefined).on('close', () => open.delete(near));
    if (state === 'silent') return;
    const far = connect(Number(port), hostname);
    open.add(far);
    far.on('error', () => undefined).on('close', () => open.delete(far) && near.destroy());
    near.on('close', () => far.destroy());
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: target.replace(`:${port}`, `:${(server.address() as AddressInfo).port}`),
    cut() {
      state = 'down';
      drop();
    },
    stall() {
      state = 'silent';
      for (const socket of open) socket.unpipe().pause();
    },
    mend: () => void (state = 'up'),
    async close() {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
}
