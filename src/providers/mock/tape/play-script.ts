import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import type { Clock } from '../../../core/time/clock.ts';
import type { MockScript } from './mock-script.ts';

/**
 * Plays a script over HTTP/1.1: waits, respects back-pressure, and lets everything written reach the
 * socket before a cut destroys it. Ends early when the client goes away. Never rejects.
 */
export async function playScript(
  script: MockScript,
  res: ServerResponse,
  clock: Clock,
): Promise<void> {
  const { call } = script;
  await wait(clock, script.delayMs, res);
  if (res.destroyed) return void (call.outcome = 'aborted');
  if (script.cutBeforeHead) return cut(script, res);
  const coder = toCoder(script.encoding);
  res.writeHead(script.status, {
    ...script.headers,
    ...(script.encoding && { 'content-encoding': script.encoding }),
  });
  res.flushHeaders();
  coder?.pipe(res);
  for (const step of script.steps) {
    if ('cut' in step) return cut(script, res);
    await wait(clock, step.delayMs, res);
    if (res.destroyed) break;
    await write(coder ?? res, res, step.bytes);
  }
  if (res.destroyed) return void (call.outcome = 'aborted');
  call.outcome = 'done';
  (coder ?? res).end();
}

/** One turn later, so that a coder's last bytes are on their way. */
function cut({ call }: MockScript, res: ServerResponse): void {
  call.outcome = 'cut';
  setImmediate(() => res.socket?.destroy());
}

/** Every write leaves the coder at once, else a slow stream would arrive as one block. */
function toCoder(encoding: MockScript['encoding']): Transform | undefined {
  if (encoding === 'gzip') return createGzip({ flush: constants.Z_SYNC_FLUSH });
  if (encoding === 'br') return createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH });
  return undefined;
}

/** Resolves when the bytes are handed on, or when the client is gone. */
function write(out: Transform | ServerResponse, res: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.off('close', done);
      resolve();
    };
    res.once('close', done);
    out.write(bytes, done);
  });
}

function wait(clock: Clock, ms: number, res: ServerResponse): Promise<void> {
  if (ms === 0 || res.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      res.off('close', done);
      resolve();
    };
    const timer = clock.setTimeout(done, ms);
    res.once('close', done);
  });
}
