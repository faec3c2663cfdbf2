import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';

export interface HttpToolServer {
  readonly url: string;
  readonly port: number;
  /** Value of `authorization` of every request. */
  readonly authorizations: (string | undefined)[];
  /** Inputs of the calls of `order`. */
  readonly orders: string[];
  /** Status in place of an answer, by the value of `authorization`. */
  refuse: (authorization: string | undefined) => number | undefined;
  close(): Promise<void>;
}

/** A server of tools made with the official SDK, without sessions of its own. */
export async function startToolServer(): Promise<HttpToolServer> {
  const authorizations: (string | undefined)[] = [];
  const orders: string[] = [];
  const http = createServer((request, response) => {
    const { authorization } = request.headers;
    authorizations.push(authorization);
    const status = tools.refuse(authorization);
    if (status !== undefined) {
      response.writeHead(status).end();
      return;
    }
    const transport = new StreamableHTTPServerTransport({});
    response.on('close', () => void transport.close());
    void makeServer(orders)
      .connect(transport as Transport)
      .then(() => transport.handleRequest(request, response));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const tools: HttpToolServer = {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    authorizations,
    orders,
    refuse: () => undefined,
    async close() {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
  return tools;
}

function makeServer(orders: string[]): McpServer {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  const inputSchema = { what: z.string() };
  server.registerTool('order', { description: 'Orders.', inputSchema }, ({ what }) => {
    orders.push(what);
    return { content: [{ type: 'text', text: `ordered ${what}` }] };
  });
  server.registerTool('search', { annotations: { readOnlyHint: true } }, () => ({
    content: [
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'a://b', text: 'inside' } },
      { type: 'resource_link', uri: 'a://c', name: 'c' },
    ],
  }));
  server.registerTool('fail', { annotations: { idempotentHint: true } }, () => {
    throw new Error('out of tea');
  });
  server.registerTool('wait', {}, async () => {
    await new Promise(() => undefined);
    return { content: [] };
  });
  return server;
}
