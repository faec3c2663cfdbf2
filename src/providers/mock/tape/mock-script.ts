import type { MockCall } from './journal.ts';

/** Bytes after a wait, or the end of the connection without a proper end of the body. */
export type MockStep = { delayMs: number; bytes: Buffer } | { cut: true };

/** Everything that a player does for one call. */
export interface MockScript {
  /** Wait before the head. */
  delayMs: number;
  /** The connection ends before the head. */
  cutBeforeHead: boolean;
  status: number;
  headers: Record<string, string | string[]>;
  /** The content coding that a player over HTTP applies to the steps and announces. */
  encoding: 'gzip' | 'br' | undefined;
  steps: MockStep[];
  /** The player notes the outcome here. */
  call: MockCall;
}

/** A script without faults. */
export type PlainScript = Omit<MockScript, 'call'>;

export function toJsonScript(status: number, body: unknown): PlainScript {
  return toBodyScript(status, 'application/json', Buffer.from(JSON.stringify(body)));
}

export function toBodyScript(status: number, contentType: string, bytes: Buffer): PlainScript {
  return {
    delayMs: 0,
    cutBeforeHead: false,
    status,
    headers: { 'content-type': contentType, 'content-length': String(bytes.length) },
    encoding: undefined,
    steps: [{ delayMs: 0, bytes }],
  };
}
