import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ToolServerError } from './tool-server.ts';

/** A way to a server, which tells why it broke. */
export interface ToolTransport extends Transport {
  /** Undefined while it works. */
  readonly fault: ToolServerError | undefined;
}
