import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, it, onTestFinished } from 'vitest';
import { startFakeServer } from '../client/fake-server.ts';
import type { Handler } from '../client/fake-server.ts';
import { verifies } from '../requirements.ts';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';

const BINARY = fileURLToPath(new URL('../../bin/gateway.js', import.meta.url));
const LINES = 5_000;
/** So many seconds of the command pass in one: its timers are that much earlier. */
const HASTE = 12;
const HASTY = `const { setTimeout: later } = globalThis;
globalThis.setTimeout = (fn, ms, ...rest) => later(fn, ms / ${HASTE}, ...rest);`;

const eventOf = (index: number, type = 'agent.message') => ({
  id: `sevt_${index}`,
  type,
  processed_at: '2026-11-21T10:00:00.000Z',
  content: [{ type: 'text', text: `line ${index} of what the agent says` }],
});
const frame = (event: object) => `data: ${JSON.stringify(event)}\n\n`;

/** Where to reach a Session whose stream is what `stream` writes. */
async function serve(stream: Handler) {
  const server = await startFakeServer((call, response) => {
    if (call.path.endsWith('/stream')) return stream(call, response);
    if (call.path.endsWith('/events')) return { body: { data: [], next_page: null } };
    return { body: { id: 'sess_1', status: 'running', created_at: '2026-11-21T10:00:00.000Z' } };
  });
  onTestFinished(() => server.close());
  const env = { PATH: process.env['PATH'] ?? '', GATEWAY_API_KEY: 'sk-test' };
  return {
    cwd: await emptyDirectory(),
    env: { ...env, GATEWAY_SERVER: server.url },
    extendEnv: false,
    stdin: 'ignore' as const,
  };
}

it(
  verifies('cli.output.flush', 'each event of a tail is written before the next one comes'),
  async () => {
    const events = new EventEmitter();
    const options = await serve((_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      events.on('event', (event: object) => response.write(frame(event)));
      events.emit('open');
      return undefined;
    });
    const opened = once(events, 'open');
    const tail = execa(process.execPath, [BINARY, 'tail', 'sess_1'], options);
    const lines = tail.iterable();
    await opened;
    for (let index = 1; index <= 20; index++) {
      events.emit('event', eventOf(index));
      const next = await lines.next();
      expect(next.value).toContain(`line ${index} of`);
    }
    events.emit('event', eventOf(21, 'session.deleted'));
    expect(await tail).toMatchObject({ exitCode: 0, stderr: '' });
  },
);

it(
  verifies('cli.output.flush', 'a reader that sleeps for 12 seconds misses nothing of a tail'),
  async () => {
    const options = await serve((_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let index = 1; index < LINES; index++) response.write(frame(eventOf(index)));
      response.end(frame(eventOf(LINES, 'session.deleted')));
      return undefined;
    });
    const program = `"${process.execPath}" --import 'data:text/javascript,${encodeURIComponent(HASTY)}'`;
    const pipeline = `${program} "${BINARY}" tail sess_1 | { sleep 1; cat; }`;
    const { stdout } = await execa('bash', ['-c', `set -o pipefail; ${pipeline}`], options);
    const lines = stdout.split('\n');
    expect(lines).toHaveLength(LINES);
    for (const [index, line] of lines.entries()) expect(line).toContain(`line ${index + 1} of`);
  },
);
