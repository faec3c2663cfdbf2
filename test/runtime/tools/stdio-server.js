import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

// Tells of itself what a test wants to know: its process and what it was given.
const server = new McpServer({ name: 'stdio', version: '1.0.0' });
server.registerTool('whoami', { annotations: { readOnlyHint: true } }, () => ({
  content: [
    {
      type: 'text',
      text: JSON.stringify({
        pid: process.pid,
        args: process.argv.slice(2),
        declared: process.env.DECLARED,
        token: process.env.SHOP_TOKEN,
        options: process.env.NODE_OPTIONS,
      }),
    },
  ],
}));
server.registerTool('die', {}, () => process.exit(3));
await server.connect(new StdioServerTransport());
