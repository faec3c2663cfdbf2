import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';

/** An MCP server whose one tool may be called once for each mark: it counts. */
export interface ToolServer {
  readonly url: string;
  /** The mark of each call. */
  readonly effects: string[];
  close(): Promise<void>;
}

export async function startToolServer(): Promise<ToolServer> {
  const effects: string[] = [];
  const http = createServer((request, response) => {
    const server = new McpServer({ name: 'counter', version: '1.0.0' });
    server.registerTool('act', { inputSchema: { mark: z.string() } }, ({ mark }) => {
      effects.push(mark);
      return { content: [{ type: 'text', text: 'acted' }] };
    });
    const transport = new StreamableHTTPServerTransport({});
    response.on('close', () => void transport.close());
    server
      .connect(transport as Transport)
      .then(() => transport.handleRequest(request, response))
      .catch(() => response.destroy());
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    effects,
    async close() {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
}
