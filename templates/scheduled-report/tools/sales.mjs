// An MCP server over stdio without dependencies: JSON-RPC, one message a line.
// With more than a tool or two, use the package @modelcontextprotocol/server instead.
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const READ_SALES = {
  name: 'read_sales',
  description: 'Orders, revenue in EUR and the best seller of one day.',
  inputSchema: {
    type: 'object',
    properties: { day: { type: 'string', description: '2026-11-20, or latest.' } },
    required: ['day'],
  },
  // Says that a call may be repeated, after a crash for example.
  annotations: { readOnlyHint: true },
};

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'sales', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [READ_SALES] }),
  async 'tools/call'({ name, arguments: input }) {
    if (name !== READ_SALES.name) return failed(`there is no tool ${name}`);
    // Read each time, so that the file may change while the gateway runs.
    const sales = JSON.parse(await readFile(new URL('sales.json', import.meta.url), 'utf8'));
    const day = input?.day === 'latest' ? Object.keys(sales).sort().at(-1) : input?.day;
    const found = sales[day];
    if (!found) return failed(`there are no sales of ${day}`);
    const text = `${day}: ${found.orders} orders, ${found.revenue} EUR, best seller ${found.best}`;
    return { content: [{ type: 'text', text }] };
  },
};

// The model reads what went wrong, and can try something else.
function failed(text) {
  return { content: [{ type: 'text', text }], isError: true };
}

// Standard output carries the protocol and nothing else; use console.error for notes.
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = METHODS[method]
    ? { result: await METHODS[method](params ?? {}) }
    : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
