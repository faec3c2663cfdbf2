import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

// Speaks MCP by hand, so that it can break its rules. Its argument says how.
const [fault] = process.argv.slice(2);
const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = (name, inputSchema = { type: 'object' }) => ({ name, inputSchema });
const text = (words) => ({ content: [{ type: 'text', text: words }] });

const tools = {
  schemas: [
    tool('good'),
    tool('odd', { type: 'string' }),
    tool('none', null),
    tool('good'),
    tool('large', { type: 'object', description: 'x'.repeat(100_000) }),
    7,
  ],
}[fault] ?? [tool('good')];

const calls = {
  async huge({ id }) {
    // 40 MB in one line, no faster than it is read.
    process.stdout.write(
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`,
    );
    const part = 'x'.repeat(1024 * 1024);
    for (let sent = 0; sent < 40; sent++)
      if (!process.stdout.write(part)) await new Promise((go) => process.stdout.once('drain', go));
    process.stdout.write('"}]}}\n');
  },
  dies: () => process.exit(3),
  slow: () => undefined,
  changes({ id }) {
    tools.push(tool('second'));
    write({ method: 'notifications/tools/list_changed' });
    write({ id, result: text('changed') });
  },
  stubborn: () => void spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }),
  refuses: ({ id }) => write({ id, error: { code: -32000, message: 'out of tea' } }),
  strange: ({ id }) => write({ id, result: { content: [{ type: 'hologram', beam: 1 }, 7] } }),
};

if (fault === 'chatty') process.stdout.write('Welcome!\n{"a":1}\n[]\n\n');
if (fault === 'garbage') for (let line = 0; line < 200; line++) process.stdout.write('what?\n');
const isDeaf = fault === 'deaf' || fault === 'stubborn';
if (isDeaf) process.on('SIGTERM', () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const { id, method } = request;
  if (method === 'server/discover' && fault === 'shy') process.exit(1);
  if (method === 'server/discover' && fault !== 'mute' && fault !== 'silent')
    write({ id, error: { code: -32601, message: 'Method not found' } });
  if (method === 'initialize' && fault !== 'mute')
    write({
      id,
      result: {
        protocolVersion: request.params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'faulty', version: '1' },
      },
    });
  if (method === 'tools/list' && fault !== 'listless') write({ id, result: { tools } });
  if (method === 'tools/call')
    await (calls[fault] ?? (() => write({ id, result: text('good') })))(request);
}
if (isDeaf) setInterval(() => undefined, 1_000);
