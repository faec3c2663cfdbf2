import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { createHttp1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import { drawFrom } from '../../core/json/same-as-parse.ts';
import type { Draw } from '../../core/json/same-as-parse.ts';
import { exchange } from '../exchange-log.ts';
import type { ExchangeLog } from '../exchange-log.ts';

/** One answer of a server that cannot be trusted. */
interface Script {
  /** Whether the client has to read it to its end, or to refuse it. */
  readonly verdict: 'sound' | 'broken';
  readonly bytes: Buffer;
  readonly close: boolean;
  /** Sent in one piece: what comes later would belong to the next call. */
  readonly isWhole?: boolean;
}

/** Body of the call of that number; no two have one alike. */
function bodyOf(index: number): string {
  return `<${index}>`.repeat(1 + (index % 97) * (index % 13));
}

const FORGED = 'HTTP/1.1 200 OK\r\nx-tag: forged\r\ncontent-length: 6\r\n\r\nforged';

type Write = (index: number, draw: Draw) => Omit<Script, 'bytes'> & { text: string };

function head(index: number, ...lines: string[]): string {
  return ['HTTP/1.1 200 OK', `x-tag: ${index}`, ...lines, '', ''].join('\r\n');
}

function chunked(text: string, draw: Draw, extension = ''): string {
  let chunks = '';
  for (let at = 0; at < text.length;) {
    const size = 1 + draw(40);
    const piece = text.slice(at, at + size);
    chunks += `${piece.length.toString(16)}${extension}\r\n${piece}\r\n`;
    at += size;
  }
  return `${chunks}0\r\n\r\n`;
}

const CHUNKED = 'transfer-encoding: chunked';
const lengthOf = (index: number): string => `content-length: ${bodyOf(index).length}`;
const sound = (text: string, close = false) => ({ verdict: 'sound', text, close }) as const;
const overlong = (text: string) => ({ ...sound(text + FORGED), isWhole: true });
const broken = (text: string) => ({ verdict: 'broken', text, close: true }) as const;

const SOUND: readonly Write[] = [
  (index) => sound(head(index, lengthOf(index)) + bodyOf(index)),
  (index, draw) => sound(head(index, CHUNKED) + chunked(bodyOf(index), draw)),
  (index, draw) => sound(head(index, CHUNKED) + chunked(bodyOf(index), draw, ';x="y"')),
  (index) => sound(head(index) + bodyOf(index), true),
  (index) => sound(head(index, 'connection: close', lengthOf(index)) + bodyOf(index), true),
  (index) => {
    const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n';
    return sound(hint + head(index, lengthOf(index)) + bodyOf(index));
  },
];

const UNSOUND: readonly Write[] = [
  // Folded lines, the first one included.
  (index) => broken(head(index, 'x-a: 1\r\n  folded', lengthOf(index)) + bodyOf(index)),
  (index) => broken(`HTTP/1.1 200 OK\r\n ${head(index).slice(17)}${bodyOf(index)}`),
  // Oversized.
  (index) => broken(head(index, `x-a: ${'y'.repeat(70_000)}`, lengthOf(index)) + bodyOf(index)),
  (index) =>
    broken(head(index, ...Array<string>(300).fill('a: b'), lengthOf(index)) + bodyOf(index)),
  (index) => broken(`${head(index, CHUNKED)}${'f'.repeat(40)}\r\n${bodyOf(index)}`),
  (index) => broken(`${head(index, CHUNKED)}1;${'x'.repeat(9000)}\r\na\r\n0\r\n\r\n`),
  (index) => broken(`${head(index, CHUNKED)}0\r\n${'t: x\r\n'.repeat(20_000)}\r\n`),
  // Malformed.
  (index) => broken(head(index, lengthOf(index), lengthOf(index)) + bodyOf(index)),
  (index, draw) => broken(head(index, CHUNKED, lengthOf(index)) + chunked(bodyOf(index), draw)),
  (index) => broken(head(index, 'content-length: -1') + bodyOf(index)),
  (index) => broken(head(index, 'content-length: 1e3') + bodyOf(index)),
  (index) => broken(head(index, 'transfer-encoding: gzip, chunked') + bodyOf(index)),
  (index) => broken(head(index, lengthOf(index)).replaceAll('\r\n', '\n') + bodyOf(index)),
  (index) => broken(head(index, 'x\0: 1', lengthOf(index)) + bodyOf(index)),
  (index) => broken(head(index, 'no colon', lengthOf(index)) + bodyOf(index)),
  (index) => broken(head(index).replace('HTTP/1.1', 'HTTP/2') + bodyOf(index)),
  (index) => broken(head(index).replace('200', '101')),
  (index) => broken(`${head(index, CHUNKED)}4\r\n<${index}>and no end`),
  (index) => broken(`${head(index, CHUNKED)}-4\r\n${bodyOf(index)}\r\n0\r\n\r\n`),
  // Cut.
  (index) => broken(head(index, `content-length: ${bodyOf(index).length + 5}`) + bodyOf(index)),
  (index, draw) => broken((head(index, CHUNKED) + chunked(bodyOf(index), draw)).slice(0, -2)),
  () => broken(''),
  () => broken(FORGED.slice(0, 20)),
];

/** Sound answers with more behind them: it belongs to nobody. */
const OVERLONG: readonly Write[] = [
  (index) => overlong(head(index, lengthOf(index)) + bodyOf(index)),
  (index, draw) => overlong(head(index, CHUNKED) + chunked(bodyOf(index), draw)),
];

function scriptFor(index: number, draw: Draw): Script {
  const kind = draw(10);
  const writers = kind < 5 ? SOUND : kind < 6 ? OVERLONG : UNSOUND;
  const { text, ...script } = (writers[draw(writers.length)] as Write)(index, draw);
  return { ...script, bytes: Buffer.from(text, 'latin1') };
}

/** Sends bytes in pieces, one in each turn of the event loop, so that they arrive cut anywhere. */
function sendCut(socket: Socket, { bytes, close, isWhole }: Script, draw: Draw): void {
  const isCut = !isWhole && draw(2) === 0;
  const most = isCut ? 1 + draw(Math.ceil(bytes.length / 4) + 1) : bytes.length;
  let at = 0;
  const next = (): void => {
    if (socket.destroyed) return;
    const end = isCut ? Math.min(bytes.length, at + 1 + draw(most)) : bytes.length;
    socket.write(bytes.subarray(at, end));
    at = end;
    if (at < bytes.length) setImmediate(next);
    else if (close) socket.end();
  };
  next();
}

interface Provider {
  readonly url: string;
  readonly scripts: ReadonlyMap<number, Script>;
  close(): Promise<void>;
}

async function startProvider(draw: Draw): Promise<Provider> {
  const scripts = new Map<number, Script>();
  const sockets = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    let asked = '';
    socket.on('data', (data) => {
      asked += data.toString('latin1');
      const request = /^GET \/(\d+) [\s\S]*?\r\n\r\n/.exec(asked);
      if (!request) return;
      asked = asked.slice(request[0].length);
      const index = Number(request[1]);
      const script = scriptFor(index, draw);
      scripts.set(index, script);
      sendCut(socket, script, draw);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    scripts,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** What is wrong with what a call was told; undefined where all is well. */
function faultOf(index: number, log: ExchangeLog, script: Script | undefined): string | undefined {
  const ends = log.events.filter((event) => event === 'end' || event === 'error');
  if (ends.length !== 1 || ends[0] !== log.events.at(-1)) return `told ${log.events.join(' ')}`;
  const tag = log.headers['x-tag'];
  if (tag !== undefined && tag !== String(index)) return `has the head of ${String(tag)}`;
  if (!script) return 'was never answered';
  const text = log.text();
  if (log.ended && script.verdict === 'broken') return 'took what is broken';
  if (!log.ended && script.verdict === 'sound') return `refused: ${log.error?.message}`;
  if (log.ended && text !== bodyOf(index)) return `has another body: ${text.slice(0, 80)}`;
  return undefined;
}

/**
 * Makes so many calls, some at once, over few connections to a provider that answers in every way that
 * is wrong. Throws for the first call that was told something of another one, or nothing.
 */
export async function callMany(seed: number, calls: number): Promise<{ ended: number }> {
  const draw = drawFrom(seed);
  const provider = await startProvider(draw);
  const transport = createHttp1Transport({ connections: 4 });
  let next = 0;
  let ended = 0;
  const work = async (): Promise<void> => {
    while (next < calls) {
      const index = next++;
      const log = exchange(transport, `${provider.url}/${index}`, {
        method: 'GET',
        body: undefined,
      });
      await log.finished;
      const script = provider.scripts.get(index);
      const fault = faultOf(index, log, script);
      if (fault !== undefined) {
        const said = script?.bytes.toString('latin1').slice(0, 300);
        throw new Error(`seed ${seed}, call ${index} ${fault}: ${said}`);
      }
      if (log.ended) ended++;
    }
  };
  try {
    await Promise.all(Array.from({ length: 8 }, work));
  } finally {
    await transport.close();
    await provider.close();
  }
  return { ended };
}
