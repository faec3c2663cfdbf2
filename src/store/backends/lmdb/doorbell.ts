import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, realpathSync, statSync, unlinkSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Message of one group of commits to the other processes. */
export interface Ring {
  transaction: number;
  /** Heads of the keys that changed, as encoded strings; absent when they are too many to name. */
  heads?: readonly string[];
}

/** Notifies the other processes that share a directory of changes, as fast as a socket; best effort. */
export interface Doorbell {
  /** Other processes that are connected now. */
  readonly peers: number;
  ring(ring: Ring): void;
  close(): void;
}

const SOCKET_NAME = /^watch-(\d+)-[0-9a-f]+\.sock$/;
const LONGEST_NAME = 'watch-4194304-00000000.sock';
/** The shortest limit that a system sets on the path of a socket, less its final NUL. */
const MAX_SOCKET_PATH = 103;
/** Error codes of a connection without a listener. */
const GONE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOENT']);
const MAX_BUFFERED = 256 * 1024;

/**
 * Listens on a socket of its own and connects to those that are there; connections serve both ways, so a later
 * process finds all others. A failed connection is left to the caller's polling.
 */
export function openDoorbell(directory: string, onRing: (ring: Ring) => void): Doorbell {
  const folder = socketFolder(directory);
  const own = `watch-${process.pid}-${randomBytes(4).toString('hex')}.sock`;
  const sockets = new Set<Socket>();

  function adopt(socket: Socket): void {
    socket.unref();
    socket.setEncoding('utf8');
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    receiveLines(socket, onRing);
    sockets.add(socket);
  }

  const server = createServer(adopt);
  server.on('error', () => server.close());
  // Exclusive: in a worker, the first process of the gateway would else listen in its place.
  server.listen({ path: join(folder, own), exclusive: true }, () => {
    for (const name of othersIn(folder, own)) connect(join(folder, name), adopt);
  });
  server.unref();

  return {
    get peers() {
      return sockets.size;
    },
    ring(ring) {
      if (sockets.size === 0) return;
      const line = `${JSON.stringify(ring)}\n`;
      for (const socket of sockets) {
        if (socket.writableLength < MAX_BUFFERED) socket.write(line);
      }
    },
    close: () => closeAll(server, sockets),
  };
}

/**
 * The processes that have the directory open and hear the bell, by number; one process may be there twice. A
 * live process accepts a connection, also while it is busy.
 */
export async function findPeers(directory: string): Promise<number[]> {
  const folder = socketFolder(directory);
  const found = othersIn(folder, '').map(async (name) =>
    (await answers(join(folder, name))) ? [Number(SOCKET_NAME.exec(name)?.[1])] : [],
  );
  return (await Promise.all(found)).flat();
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => resolve(!('code' in error && GONE.has(String(error.code)))));
  });
}

/** Every process must use the same folder, so it only depends on the directory. */
function socketFolder(directory: string): string {
  const real = realpathSync(directory);
  if (Buffer.byteLength(join(real, LONGEST_NAME)) <= MAX_SOCKET_PATH) return real;
  const name = createHash('sha256').update(real).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `gateway-${name}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // A folder of another user is not safe; no socket can be made in the long one.
  return statSync(folder).uid === process.getuid?.() ? folder : real;
}

function othersIn(folder: string, own: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name !== own && SOCKET_NAME.test(name));
  } catch {
    return [];
  }
}

function connect(path: string, adopt: (socket: Socket) => void): void {
  const socket = createConnection(path);
  socket.once('error', (error) => {
    if ('code' in error && error.code === 'ECONNREFUSED') removeStale(path);
  });
  socket.once('connect', () => adopt(socket));
  socket.unref();
}

/** A socket without an answer belongs to a process that was killed, unless it lives after all. */
function removeStale(path: string): void {
  const pid = Number(SOCKET_NAME.exec(path.slice(path.lastIndexOf('watch-')))?.[1]);
  try {
    process.kill(pid, 0);
  } catch {
    try {
      unlinkSync(path);
    } catch {
      // Another process was faster.
    }
  }
}

function receiveLines(socket: Socket, onRing: (ring: Ring) => void): void {
  let rest = '';
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_BUFFERED) socket.destroy();
    for (const line of lines) {
      const ring = parseRing(line);
      if (ring) onRing(ring);
    }
  });
}

function parseRing(line: string): Ring | undefined {
  try {
    const ring: Partial<Ring> | null = JSON.parse(line);
    if (typeof ring?.transaction !== 'number') return undefined;
    const { transaction, heads } = ring;
    return Array.isArray(heads) ? { transaction, heads: heads.map(String) } : { transaction };
  } catch {
    return undefined;
  }
}

function closeAll(server: Server, sockets: Set<Socket>): void {
  // Closing the server removes its socket file.
  server.close();
  for (const socket of sockets) socket.destroy();
}
