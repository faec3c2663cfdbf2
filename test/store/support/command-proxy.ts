import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A database behind a port that keeps what it is asked, command by command. */
export interface CommandProxy {
  /** The URL of the database, by way of the proxy. */
  readonly url: string;
  /** Bytes of the commands since the last look, one character each; every one is a round trip of its own. */
  take(): string[];
  close(): Promise<void>;
}

/** `url`: of Redis or PostgreSQL. */
export async function openCommandProxy(url: string): Promise<CommandProxy> {
  const { port, hostname, protocol } = new URL(url);
  let commands: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const cut = protocol === 'redis:' ? createRedisCutter() : createPostgresCutter();
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => undefined);
      from.on('close', () => void (sockets.delete(from), to.destroy()));
      from.on('data', (bytes: Buffer) => void to.write(bytes));
    }
    near.on('data', (bytes: Buffer) => void commands.push(...cut(bytes.toString('latin1'))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const way = new URL(url);
  way.port = String((server.address() as AddressInfo).port);
  return {
    url: way.href,
    take() {
      const taken = commands;
      commands = [];
      return taken;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Gives the commands that are whole with these characters. */
type Cutter = (text: string) => string[];

/** Commands are `*COUNT`, then `$LENGTH` and the text of each word, lines with CRLF. */
function createRedisCutter(): Cutter {
  let rest = '';
  return (text) => {
    rest += text;
    const found: string[] = [];
    for (let end = endOfRedis(rest); end > 0; end = endOfRedis(rest)) {
      found.push(rest.slice(0, end));
      rest = rest.slice(end);
    }
    return found;
  };
}

/** 0: the command is not whole. */
function endOfRedis(text: string): number {
  let at = 0;
  const number = (): number => {
    const end = text.indexOf('\r\n', at);
    const value = end < 0 ? Number.NaN : Number(text.slice(at + 1, end));
    at = end + 2;
    return value;
  };
  for (let words = number(); words > 0; words--) {
    const length = number();
    at += length + 2;
  }
  return at <= text.length ? at || 0 : 0;
}

/** Messages are a letter, a length and a body; `S` and `Q` ask for an answer. The first one has no letter. */
function createPostgresCutter(): Cutter {
  let rest = '';
  let command = '';
  let letters = 0;
  return (text) => {
    rest += text;
    const found: string[] = [];
    for (;;) {
      const length = Buffer.from(rest.slice(letters, letters + 4), 'latin1');
      if (length.length < 4) return found;
      const end = letters + length.readUInt32BE();
      if (rest.length < end) return found;
      const message = rest.slice(0, end);
      rest = rest.slice(end);
      command += message;
      if (letters === 1 && /^[SQ]/.test(message)) {
        found.push(command);
        command = '';
      }
      letters = 1;
    }
  };
}
