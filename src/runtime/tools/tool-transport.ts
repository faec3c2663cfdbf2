import type { Transport } from '@modelcontextprotocol/client';
import type { ToolServerError } from './tool-server.ts';

/** A connection to a server, with the fault that broke it. */
export interface ToolTransport extends Transport {
  /** Undefined while it works. */
  readonly fault: ToolServerError | undefined;
}
