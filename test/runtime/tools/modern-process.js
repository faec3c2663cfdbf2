import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

// A server of MCP 2026-07-28 alone: it refuses the handshake of former revisions.
serveStdio(
  () => {
    const server = new McpServer({ name: 'modern', version: '1.0.0' });
    server.registerTool('whoami', { annotations: { readOnlyHint: true } }, () => ({
      content: [{ type: 'text', text: `process ${process.pid}` }],
    }));
    return server;
  },
  { legacy: 'reject' },
);
