import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** One request as it stood on the wire. */
export interface WireRequest {
  line: string;
  /** Names as they were sent. */
  headers: [name: string, value: string][];
  body: Buffer;
}

export interface WireUpstream {
  readonly url: string;
  readonly requests: WireRequest[];
  /** What is written, byte for byte as latin1, for every request from now on. */
  answer(text: string | Buffer, then?: 'keep' | 'close'): void;
  /** What came that is no request; must stay empty. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** RFC 9112 at its strictest: what goes out must be read alike by every server. */
const LINE = /^(?:GET|POST|PUT|PATCH|DELETE|HEAD) \/[\x21-\x22\x24-\x7e]* HTTP\/1\.1$/;
const HEADER = /^([\w!#$%&'*+.^`|~-]+): ([\t\x20-\x7e\x80-\xff]*)$/;

/** A provider on a plain socket that reads requests strictly and answers with any bytes. */
export async function startWireUpstream(): Promise<WireUpstream> {
  const requests: WireRequest[] = [];
  const faults: string[] = [];
  const sockets = new Set<Socket>();
  let answer: string | Buffer = '';
  let isLast = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      for (;;) {
        const read = readRequest(received);
        if (read === undefined) return;
        if (typeof read === 'string') {
          faults.push(read);
          socket.destroy();
          return;
        }
        received = received.subarray(read.length);
        requests.push(read.request);
        socket.write(answer, 'latin1');
        if (isLast) socket.end();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    faults,
    answer(text, then = 'keep') {
      answer = text;
      isLast = then === 'close';
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function readRequest(
  received: Buffer,
): { request: WireRequest; length: number } | string | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [line = '', ...rest] = received.toString('latin1', 0, end).split('\r\n');
  if (!LINE.test(line)) return line;
  const headers: [string, string][] = [];
  for (const one of rest) {
    const match = HEADER.exec(one);
    if (!match) return one;
    headers.push([match[1] as string, match[2] as string]);
  }
  const lengths = headers.filter(([name]) => name.toLowerCase() === 'content-length');
  const hosts = headers.filter(([name]) => name.toLowerCase() === 'host');
  const isCoded = headers.some(([name]) => name.toLowerCase() === 'transfer-encoding');
  if (lengths.length > 1 || hosts.length !== 1 || isCoded) return `framing of ${line}`;
  const length = end + 4 + Number(lengths[0]?.[1] ?? 0);
  if (received.length < length) return undefined;
  return { request: { line, headers, body: received.subarray(end + 4, length) }, length };
}
