import { parseJSONRPCMessage } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { parseKeepingDigits } from '../../core/json/digits.ts';
import type { RunningProcess } from '../process/start-process.ts';
import { hideResult } from './modern-calls.ts';
import type { ToolTransport } from './tool-transport.ts';
import { ToolServerError } from './tool-server.ts';

/** Between the request to end and the kill of a server that is not needed any more. */
const GRACE_MS = 2_000;
/** Some servers greet on stdout; a program that prints more such lines is no server. */
const MAX_GARBAGE_LINES = 100;

/** A server that is a process, in place of the SDK's own transport, which leaves orphans. */
export class StdioTransport implements ToolTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  fault: ToolServerError | undefined;
  /** The client knows a process by these two. Where one is silent it speaks an older revision. */
  readonly pid = null;
  readonly stderr = null;
  readonly #startProcess: () => Promise<RunningProcess>;
  #process: RunningProcess | undefined;
  #isClosed = false;
  #version: string | undefined;

  constructor(startProcess: () => Promise<RunningProcess>) {
    this.#startProcess = startProcess;
  }

  async start(): Promise<void> {
    this.#process = await this.#startProcess();
    void this.#read(this.#process);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#process || this.#isClosed) throw ended();
    await this.#process.send(message).catch(() => {
      throw this.fault ?? ended();
    });
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  /** Resolves when nothing of the process is left. */
  async close(): Promise<void> {
    this.fault ??= ended();
    if (!this.#isClosed) {
      this.#isClosed = true;
      // Waiters for an answer need not wait for the end of the process.
      this.onclose?.();
    }
    await this.#process?.end(GRACE_MS);
  }

  /** Never rejects. */
  async #read({ lines }: RunningProcess): Promise<void> {
    try {
      let garbage = 0;
      for await (const line of lines) {
        if (this.#isClosed) break;
        if (!this.#take(line) && ++garbage > MAX_GARBAGE_LINES)
          throw new ToolServerError('connection', 'the server writes what is not of its protocol');
      }
    } catch (thrown) {
      this.fault ??= thrown instanceof ToolServerError ? thrown : ended();
    }
    await this.close();
  }

  /** False for a line that is no message. */
  #take(line: string): boolean {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(parseKeepingDigits(line));
    } catch {
      return line.trim() === '';
    }
    hideResult(message, this.#version);
    this.onmessage?.(message);
    return true;
  }
}

function ended(): ToolServerError {
  return new ToolServerError('connection', 'the process of the server has ended');
}
