import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

const END_OF_CHUNKS = Buffer.from('0\r\n\r\n');

export interface LoadConnection {
  /** Sends a request; gives the status once the whole answer is there. */
  ask(request: Buffer): Promise<number>;
  /** The same, but reads nothing for a while after the first bytes. */
  askSlowly(request: Buffer, pauseMs: number): Promise<number>;
  /** Sends a request and breaks the connection: at once, or with the first bytes of the answer. */
  abandon(request: Buffer, when: 'sent' | 'answering'): Promise<void>;
  close(): void;
}

/**
 * One client on a bare socket that is kept open, cheap enough for a hundred thousand requests. It knows
 * as much HTTP as it takes to see where an answer ends.
 */
export function createLoadConnection(url: string): LoadConnection {
  const { hostname, port } = new URL(url);
  let open: Socket | undefined;

  async function socketOf(): Promise<Socket> {
    if (open && !open.destroyed) return open;
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    open = socket;
    await once(socket, 'connect');
    return socket;
  }

  async function exchange(request: Buffer, pauseMs: number): Promise<number> {
    const socket = await socketOf();
    return new Promise((resolve, reject) => {
      const isOver = answerReader();
      const end = (error?: Error): void => {
        socket.off('data', read).off('close', broke);
        if (error) reject(error);
      };
      const broke = (): void => end(new Error('the connection broke'));
      let pause = pauseMs;
      const read = (data: Buffer): void => {
        const status = isOver(data);
        if (pause > 0) {
          socket.pause();
          setTimeout(() => socket.resume(), pause);
          pause = 0;
        }
        if (status === undefined) return;
        end();
        resolve(status);
      };
      socket.on('data', read).on('close', broke);
      socket.write(request);
    });
  }

  return {
    ask: (request) => exchange(request, 0),
    askSlowly: exchange,
    async abandon(request, when) {
      const socket = await socketOf();
      if (when === 'sent') await new Promise((sent) => socket.write(request, sent));
      else {
        const answered = once(socket, 'data');
        socket.write(request);
        await answered;
      }
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
    },
    close: () => void open?.destroy(),
  };
}

/** Takes the bytes of one answer as they come; gives its status with the last of them. */
function answerReader(): (data: Buffer) => number | undefined {
  let head = '';
  let status = 0;
  let left: number | undefined;
  let tail: Buffer = Buffer.alloc(0);
  return (data) => {
    let body = data;
    if (status === 0) {
      head += data.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return undefined;
      status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      const length = /content-length: (\d+)/i.exec(head.slice(0, end))?.[1];
      if (length !== undefined) left = Number(length);
      body = Buffer.from(head.slice(end + 4), 'latin1');
    }
    if (left !== undefined) {
      left -= body.length;
      return left <= 0 ? status : undefined;
    }
    const size = END_OF_CHUNKS.length;
    tail = (body.length >= size ? body : Buffer.concat([tail, body])).subarray(-size);
    return tail.equals(END_OF_CHUNKS) ? status : undefined;
  };
}
