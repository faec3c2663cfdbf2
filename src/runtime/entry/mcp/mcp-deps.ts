import type { Sealer } from '../../../core/seal.ts';
import type { ValueBound } from '../../../core/json/json-document.ts';
import type { Exchanges } from '../caller-watch.ts';
import type { ToolDeps } from './call-tool.ts';
import type { Cancellations } from './cancellations.ts';
import type { McpTransports } from './mcp-transports.ts';
import type { StreamRoom } from './stream-room.ts';

export interface McpDeps extends ToolDeps {
  readonly transports: McpTransports;
  readonly cancellations: Cancellations;
  /** Seals what clients carry from a question to its answer. */
  readonly sealer: Sealer;
  /** Of streams without an end of their own. */
  readonly room: StreamRoom;
  readonly resourceValues: ValueBound;
  /** Calls that a stop ends. */
  readonly active: Exchanges;
  /** Streams that have no end of their own and that a stop need not wait for. */
  readonly standing: Exchanges;
  /** Receives errors that no client should see. */
  onBug(thrown: unknown, requestId: string): void;
}
