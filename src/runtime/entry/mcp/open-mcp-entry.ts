import { createCancellations } from './cancellations.ts';
import type { McpDeps } from './mcp-deps.ts';
import { createMcpEntry } from './mcp-entry.ts';
import type { McpEntry } from './mcp-entry.ts';
import { createMcpTransports } from './mcp-transports.ts';
import { createStreamRoom, MAX_STREAMS } from './stream-room.ts';

export type McpEntryOptions = Omit<McpDeps, 'transports' | 'cancellations' | 'room'> &
  Parameters<typeof createMcpTransports>[0];

/** Entry of Services over MCP, with the sessions of its clients. */
export function openMcpEntry(options: McpEntryOptions): McpEntry {
  return createMcpEntry({
    ...options,
    transports: createMcpTransports(options),
    cancellations: createCancellations(options.store),
    room: createStreamRoom(MAX_STREAMS),
  });
}
