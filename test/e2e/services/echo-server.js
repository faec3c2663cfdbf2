import { createInterface } from 'node:readline';

// An MCP server with one tool. By hand, for the library of the protocol takes long to load.
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'echo', version: '1' },
  }),
  'tools/list': () => ({
    tools: [
      {
        name: 'echo',
        inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
      },
    ],
  }),
  'tools/call': ({ arguments: { message } }) => ({
    content: [{ type: 'text', text: `Echo: ${message}` }],
  }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || !answers[method]) continue;
  process.stdout.write(
    `${JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) })}\n`,
  );
}
