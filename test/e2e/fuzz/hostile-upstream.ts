import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** What a provider writes on the socket in answer to a request, byte by byte its own. */
export interface HostileScript {
  /** Status line and headers, without the framing headers. */
  head: string;
  pieces: readonly Buffer[];
  /** How the length of the body is told. */
  framing: 'chunked' | 'length' | 'close';
  /** `reset`: the connection breaks; `hang`: nothing more comes; `over`: the body goes on behind its end. */
  end: 'tidy' | 'reset' | 'close' | 'hang' | 'over';
}

type Play = (socket: Socket, path: string) => void;

export interface HostileUpstream {
  readonly url: string;
  /** Plays it for every request from now on; a function gets the path that was asked for. */
  play(script: HostileScript | Play): void;
  /** Connections that are open. */
  connections(): number;
  close(): Promise<void>;
}

const NOT_FOUND = `HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}`;

/** A provider on a plain socket. Looks at tasks (GET) find nothing. */
export async function startHostileUpstream(): Promise<HostileUpstream> {
  let current: HostileScript | Play | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    onRequests(socket, (method, path) => {
      if (method !== 'POST') socket.write(NOT_FOUND);
      else if (typeof current === 'function') current(socket, path);
      else if (current) void write(socket, current);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play: (script) => void (current = script),
    connections: () => sockets.size,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function onRequests(socket: Socket, listener: (method: string, path: string) => void): void {
  let received = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = received.toString('latin1', 0, end);
      const length = bodyEnd(received, head, end + 4);
      if (length === undefined) return;
      received = received.subarray(length);
      const [method = '', path = ''] = head.split(' ', 2);
      listener(method, path);
    }
  });
}

function bodyEnd(received: Buffer, head: string, start: number): number | undefined {
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  return received.length < start + length ? undefined : start + length;
}

async function write(socket: Socket, script: HostileScript): Promise<void> {
  const { head, pieces, framing, end } = script;
  const length = pieces.reduce((sum, { length: one }) => sum + one, 0);
  const told = {
    chunked: 'transfer-encoding: chunked\r\n',
    length: `content-length: ${end === 'tidy' || end === 'over' ? length : length + 7}\r\n`,
    close: 'connection: close\r\n',
  };
  socket.write(`${head}${told[framing]}\r\n`, 'latin1');
  for (const piece of pieces) {
    if (socket.destroyed) return;
    if (framing !== 'chunked') socket.write(piece);
    else if (piece.length > 0) socket.write(inChunk(piece));
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (end === 'reset') return void socket.resetAndDestroy();
  if (end === 'close') return void socket.end();
  if (end === 'hang') return;
  if (framing === 'chunked') socket.write('0\r\n\r\n');
  if (end === 'over') socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nxyz');
  if (framing === 'close') socket.end();
}

function inChunk(piece: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`${piece.length.toString(16)}\r\n`),
    piece,
    Buffer.from('\r\n'),
  ]);
}
