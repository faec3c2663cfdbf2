// An MCP server over stdio without dependencies: JSON-RPC, one message a line.
// With more than a tool or two, use the package @modelcontextprotocol/server instead.
import { createInterface } from 'node:readline';

const ORDERS = new Map([
  ['A-17', { status: 'shipped', arrives: 'Monday' }],
  ['A-18', { status: 'waiting for payment' }],
]);

const FIND_ORDER = {
  name: 'find_order',
  description: 'Looks up an order by its number.',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string', description: 'Number of the order, A-17.' } },
    required: ['id'],
  },
  // Says that a call may be repeated, after a crash for example.
  annotations: { readOnlyHint: true },
};

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'orders', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [FIND_ORDER] }),
  'tools/call': ({ name, arguments: input }) => {
    if (name !== FIND_ORDER.name) return failed(`there is no tool ${name}`);
    const order = ORDERS.get(input?.id);
    if (!order) return failed(`there is no order ${input?.id}`);
    return { content: [{ type: 'text', text: `${input.id}: ${JSON.stringify(order)}` }] };
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
    ? { result: METHODS[method](params ?? {}) }
    : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
