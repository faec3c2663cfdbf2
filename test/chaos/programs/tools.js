// An MCP server over stdio, by hand: one tool, each call of which leaves a line in a file.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const say = (id, result) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
const inputSchema = { type: 'object', properties: { mark: { type: 'string' } } };

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'tools', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [{ name: 'act', inputSchema }] }),
  'tools/call': ({ arguments: { mark } }) => {
    appendFileSync(process.env.CHAOS_NOTES, `${mark}\n`);
    return { content: [{ type: 'text', text: 'acted' }] };
  },
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined && METHODS[method]) say(id, METHODS[method](params));
}
