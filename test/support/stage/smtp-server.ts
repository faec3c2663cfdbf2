import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A mail that the server took. */
export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header lines and body as they came, dots unstuffed. */
  readonly text: string;
  /** `Message-ID`, without its brackets. */
  readonly id: string;
}

export interface SmtpServer {
  readonly port: number;
  readonly taken: readonly TakenMail[];
  /** Ids of mails that were answered with {@link SmtpServer.refusal}. */
  readonly refused: readonly string[];
  /** Sign-ins, `user:password`, right or wrong. */
  readonly signIns: readonly string[];
  /** Answer to mails in place of taking them; undefined takes them. */
  refusal: string | undefined;
  /** Answers to receivers in place of taking them, by address. */
  readonly refuseTo: Map<string, string>;
  close(): Promise<void>;
}

export interface SmtpOptions {
  /** `user:password` without which no mail is taken; absent: none is asked for. */
  readonly auth?: string;
}

/** A mail server on a free port, without TLS. */
export async function startSmtpServer({ auth }: SmtpOptions = {}): Promise<SmtpServer> {
  const taken: TakenMail[] = [];
  const refused: string[] = [];
  const signIns: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    talk(socket);
  });
  const talk = (socket: Socket): void => {
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    let from = '';
    let to: string[] = [];
    let isSignedIn = auth === undefined;
    let body: string[] | undefined;
    const finish = (lines: readonly string[]): void => {
      const text = lines.map((line) => line.replace(/^\./, '')).join('\n');
      const id = /^message-id: <(.*)>$/im.exec(text)?.[1] ?? '';
      if (running.refusal !== undefined) {
        refused.push(id);
        say(running.refusal);
        return;
      }
      taken.push({ from, to, text, id });
      say('250 taken');
    };
    const command = (line: string): void => {
      const [verb = '', rest = ''] = line.split(/ (.*)/s);
      const address = /<(.*?)>/.exec(rest)?.[1] ?? '';
      switch (verb.toUpperCase()) {
        case 'EHLO':
          say('250-here');
          say('250 AUTH PLAIN');
          return;
        case 'AUTH': {
          const [, user, password] = Buffer.from(rest.split(' ')[1] ?? '', 'base64')
            .toString()
            .split('\0');
          signIns.push(`${user}:${password}`);
          isSignedIn = `${user}:${password}` === auth;
          say(isSignedIn ? '235 welcome' : '535 wrong password');
          return;
        }
        case 'MAIL':
          from = address;
          to = [];
          say(isSignedIn ? '250 ok' : '530 sign in first');
          return;
        case 'RCPT': {
          const answer = running.refuseTo.get(address);
          if (answer === undefined) to.push(address);
          say(answer ?? '250 ok');
          return;
        }
        case 'DATA':
          body = [];
          say('354 go on');
          return;
        case 'QUIT':
          say('221 bye');
          socket.end();
          return;
        default:
          say('502 no such command');
      }
    };
    let rest = '';
    socket.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!body) command(line);
        else if (line === '.') {
          const whole = body;
          body = undefined;
          finish(whole);
        } else body.push(line);
      }
    });
    say('220 here');
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const running: SmtpServer = {
    port: (server.address() as AddressInfo).port,
    taken,
    refused,
    signIns,
    refusal: undefined,
    refuseTo: new Map(),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return running;
}
