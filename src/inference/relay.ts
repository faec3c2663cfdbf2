import type { Writable } from 'node:stream';
import type { Clock, Timer } from '../core/time/clock.ts';
import type { PipeableBody } from './types.ts';

/** Most bytes that may wait for a client that has not taken its response yet. */
const MAX_QUEUED_BYTES = 256 * 1024;
const KEEP_ALIVE_MS = 15_000;
/** Requirement stream.sse.no-buffering. */
const COMMENT = Buffer.from(': keep-alive\n\n');

export interface RelayOptions {
  clock: Clock;
  /** Bytes that are sent in silence. Default: a comment, which every SSE client skips. */
  keepAlive?: Buffer | undefined;
  /** The client has room again. */
  onDrain(): void;
}

/** Passes bytes to the client as fast as it takes them and no faster. */
export interface Relay {
  readonly body: PipeableBody;
  /** False: stop writing until `onDrain`. */
  write(bytes: Buffer): boolean;
  end(last?: Buffer): void;
}

export function createRelay(options: RelayOptions): Relay {
  const { clock, onDrain, keepAlive = COMMENT } = options;
  let response: Writable | undefined;
  let queue: Buffer[] = [];
  let queued = 0;
  let ended = false;
  let lastWrite = clock.monotonic();
  let timer: Timer | undefined;

  const stayAlive = (): void => {
    if (ended || !response) return;
    const silent = clock.monotonic() - lastWrite;
    const isDue = silent >= KEEP_ALIVE_MS;
    if (isDue && !response.writableNeedDrain) send(keepAlive);
    timer = clock.setTimeout(stayAlive, isDue ? KEEP_ALIVE_MS : KEEP_ALIVE_MS - silent);
  };

  const send = (bytes: Buffer): boolean => {
    if (!response || response.destroyed) return true;
    lastWrite = clock.monotonic();
    return response.write(bytes);
  };

  const close = (): void => {
    timer?.cancel();
    response?.end();
  };

  return {
    write(bytes) {
      if (ended || bytes.length === 0) return true;
      if (response) return send(bytes);
      queue.push(bytes);
      queued += bytes.length;
      return queued < MAX_QUEUED_BYTES;
    },
    end(last) {
      if (ended) return;
      if (last) this.write(last);
      ended = true;
      if (response) close();
    },
    body: {
      pipe(target) {
        response = target;
        target.on('drain', onDrain);
        const room = queue.length === 0 || send(Buffer.concat(queue));
        queue = [];
        if (ended) return close();
        timer = clock.setTimeout(stayAlive, KEEP_ALIVE_MS);
        if (room && queued >= MAX_QUEUED_BYTES) onDrain();
      },
      destroy() {
        ended = true;
        queue = [];
        timer?.cancel();
      },
    },
  };
}
