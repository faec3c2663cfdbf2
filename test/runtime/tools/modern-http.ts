import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serve } from 'srvx';
import { z } from 'zod';

export interface ModernHttp {
  readonly url: string;
  readonly port: number;
  /** Methods of the requests that arrived, with the name of their tool. */
  readonly heard: string[];
  /** Their headers. */
  readonly headers: Headers[];
  /** Inputs of the calls that were carried out. */
  readonly orders: string[];
  /** It knows former revisions alone, as from before an update or after its return. Default: this one alone. */
  isOld: boolean;
  close(): Promise<void>;
}

export interface ModernHttpOptions {
  /** Milliseconds for which the list of tools may be kept. Default: 0. */
  readonly ttlMs?: number;
}

const orderInput = z.object({
  what: z.string(),
  region: z.string().meta({ 'x-mcp-header': 'Region' }).optional(),
});
const sizeForm = {
  type: 'object' as const,
  properties: { size: { type: 'string' as const }, gift: { type: 'boolean' as const } },
  required: ['size'],
};

/** A shop of MCP 2026-07-28, made with the official SDK. */
export async function startModernHttp(options: ModernHttpOptions = {}): Promise<ModernHttp> {
  const { ttlMs = 0 } = options;
  const [heard, headers, orders]: [string[], Headers[], string[]] = [[], [], []];
  const make = (): McpServer => makeShop(orders, ttlMs);
  const modern = createMcpHandler(make, { legacy: 'reject' });
  const old = createMcpHandler(make);
  const http = serve({
    port: 0,
    hostname: '127.0.0.1',
    silent: true,
    gracefulShutdown: false,
    async fetch(request) {
      const method = request.headers.get('mcp-method');
      heard.push([method ?? '-', request.headers.get('mcp-name') ?? []].flat().join(' '));
      headers.push(request.headers);
      if (shop.isOld && method !== null)
        return new Response('Bad Request: Unsupported protocol version', { status: 400 });
      const result = BY_HAND[heard.at(-1) ?? ''];
      if (!result) return (shop.isOld ? old : modern).fetch(request);
      const { id } = (await request.json()) as { id: number };
      return Response.json({ jsonrpc: '2.0', id, result });
    },
  });
  await http.ready();
  const { port } = new URL(http.url ?? '');
  const shop: ModernHttp = {
    url: `http://127.0.0.1:${port}/mcp`,
    port: Number(port),
    heard,
    headers,
    orders,
    isOld: false,
    async close() {
      await Promise.all([modern.close(), old.close()]);
      await http.close(true);
    },
  };
  return shop;
}

/** Results that the SDK does not make: of a tool that becomes a task, and of one of a later revision. */
const BY_HAND: Readonly<Record<string, object>> = {
  'tools/call bake': {
    resultType: 'task',
    taskId: 't1',
    status: 'working',
    ttlMs: null,
    pollIntervalMs: 1,
  },
  'tasks/get t1': {
    resultType: 'complete',
    taskId: 't1',
    status: 'completed',
    result: { content: [{ type: 'text', text: 'baked' }], structuredContent: { n: 1.0 } },
  },
  'tools/call beam': { resultType: 'complete', content: [{ type: 'hologram', beam: 1 }] },
};

function makeShop(orders: string[], ttlMs: number): McpServer {
  const server = new McpServer(
    { name: 'shop', version: '2.0.0' },
    { cacheHints: { 'tools/list': { ttlMs } } },
  );
  server.registerTool('order', { inputSchema: orderInput }, ({ what }) => {
    orders.push(what);
    return { content: [{ type: 'text', text: `ordered ${what}` }] };
  });
  server.registerTool('tailor', {}, async (ctx) => {
    const answer = ctx.mcpReq.inputResponses?.['size'];
    if (!answer)
      return inputRequired({
        inputRequests: {
          size: inputRequired.elicit({ message: 'Which size?', requestedSchema: sizeForm }),
        },
        requestState: 'sealed by the shop',
      });
    orders.push(JSON.stringify([answer, ctx.mcpReq.requestState()]));
    return { content: [{ type: 'text', text: 'made' }] };
  });
  return server;
}
