import { afterEach, describe, expect, it } from 'vitest';
import { startFakeServer } from '../../client/fake-server.ts';
import type { Call, FakeServer } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';
import type { CliOptions } from '../run-cli.ts';

let server: FakeServer;
afterEach(() => server?.close());

const MESSAGE = { id: 'sevt_5', type: 'user.message', processed_at: '2026-11-21T10:00:00.000Z' };
const SERVICES = [
  { id: 'ep_1', name: 'Helper', slug: 'helper' },
  { id: 'ep_2', name: 'Other', slug: null },
  { id: 'ep_3', name: 'Other', slug: 'third' },
];
const SESSION = { id: 'sess_1', status: 'idle', created_at: MESSAGE.processed_at };
const waiting = {
  since: MESSAGE.processed_at,
  message: 'the session waits for an answer to the call lookup (sevt_9)',
  calls: [
    {
      id: 'sevt_9',
      answered_by: 'user.tool_confirmation',
      name: 'lookup',
      server: 'crm',
      input: { order: 'A-17' },
    },
  ],
};
const text = (value: string) => [{ type: 'text', text: value }];
const idle = (type: string) => ({
  id: 'sevt_9',
  type: 'session.status_idle',
  stop_reason: { type },
});

const hasId = (event: object) => 'id' in event;

/** A gateway whose Session tells these events behind the message; the first connection is cut. */
async function run(
  argv: string[],
  events: object[] = [],
  { cutAt, waiting = null, ...options }: CliOptions & { cutAt?: number; waiting?: unknown } = {},
) {
  server = await startFakeServer(({ path, headers }: Call, response) => {
    if (path === '/v1/endpoints') return { body: { data: SERVICES, next_page: null } };
    if (path === '/v1/sessions/sess_1') return { body: { ...SESSION, waiting } };
    if (path === '/v1/sessions/sess_1/events')
      return { body: { data: [MESSAGE], next_page: null } };
    if (path === '/v1/sessions/sess_1/events/stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const last = headers['last-event-id'];
      const from = events.findIndex((event) => (event as { id?: string }).id === last) + 1;
      const isFirst = server.calls.filter((call) => call.path === path).length === 1;
      // Who comes back in the middle of an event gets no further parts of it.
      const told = isFirst ? events.slice(from, cutAt) : events.slice(from).filter(hasId);
      for (const event of told) response.write(`data: ${JSON.stringify(event)}\n\n`);
      response.end();
      return undefined;
    }
    return { status: 202, body: { session_id: 'sess_1', events: [MESSAGE] } };
  });
  const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test', ...options.env };
  return { ...(await runCli(['invoke', ...argv], { ...options, env })), calls: server.calls };
}

const RUNNING = { id: 'sevt_6', type: 'session.status_running' };
const SAID = { id: 'sevt_7', type: 'agent.message', content: text('welcome') };
const DELTA = {
  type: 'event_delta',
  event_id: 'sevt_7',
  delta: { type: 'content_delta', index: 0, content: { type: 'text', text: 'wel' } },
};

describe('gateway invoke', () => {
  it(verifies('cli.invoke', 'sends a message to the service and prints the session'), async () => {
    const { code, stdout, calls } = await run(['helper', 'hello']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'sess_1\n' });
    expect(calls.at(-1)).toMatchObject({
      method: 'POST',
      path: '/v1/endpoints/ep_1/run',
      body: { input: 'hello' },
    });
  });

  it(
    verifies('cli.invoke', 'goes on with a session, and reads the message from stdin'),
    async () => {
      const { code, calls } = await run(['ep_7', '-', '--session', 'sess_1'], [], {
        stdin: 'more',
      });
      expect(code).toBe(0);
      expect(calls).toMatchObject([
        { path: '/v1/endpoints/ep_7/run', body: { input: 'more', session_id: 'sess_1' } },
        { path: '/v1/sessions/sess_1' },
      ]);
    },
  );

  it('knows no service by a name that none has, or several', async () => {
    expect(await run(['nobody', 'hello'])).toMatchObject({ code: 1, stdout: '' });
    const several = await run(['Other', 'hello']);
    expect(several.code).toBe(5);
    expect(several.stderr).toContain('ep_2, ep_3');
    expect(several.calls.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it(
    verifies('cli.invoke', 'prints the answer once, however it arrives, until the turn ends'),
    async () => {
      const events = [RUNNING, DELTA, SAID, idle('end_turn'), RUNNING];
      const { code, stdout, stderr, calls } = await run(['helper', 'hello', '--follow'], events);
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'welcome\n' });
      expect(stderr).toContain('sess_1');
      const stream = calls.find(({ path }) => path.endsWith('/stream'));
      expect(stream?.headers['last-event-id']).toBe('sevt_5');
    },
  );

  it('prints every event as a line of JSON when asked for it', async () => {
    const argv = ['helper', 'hello', '-f', '-o', 'json'];
    const { stdout } = await run(argv, [RUNNING, SAID, idle('end_turn')]);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[1]).toEqual({ type: 'event', event: RUNNING });
    expect(lines.at(-1)).toEqual({ type: 'end', reason: 'end_turn' });
  });

  it(verifies('cli.invoke', 'exits 7 when the turn failed, and says why'), async () => {
    const error = { type: 'unknown_error', message: 'no luck' };
    const failed = { id: 'sevt_8', type: 'session.error', error };
    const events = [RUNNING, failed, idle('retries_exhausted')];
    const failure = await run(['helper', 'hello', '--follow'], events);
    expect(failure.code).toBe(7);
    expect(failure.stderr).toContain('no luck');
  });

  it('takes the message from --input as well, but not from two places', async () => {
    const { code, calls } = await run(['helper', '--input', 'hello']);
    expect(code).toBe(0);
    expect(calls.at(-1)).toMatchObject({ body: { input: 'hello' } });
    expect((await run(['helper', '-i', '-'], [], { stdin: 'piped' })).calls.at(-1)).toMatchObject({
      body: { input: 'piped' },
    });
    expect(await run(['helper', 'a', '--input', 'b'])).toMatchObject({ code: 64, calls: [] });
    expect(await run(['helper', ' '])).toMatchObject({ code: 64, calls: [] });
  });

  it('goes on with the answer when the connection is lost in the middle of it', async () => {
    const more = { ...SAID, id: 'sevt_8', content: text('again') };
    const events = [RUNNING, DELTA, SAID, more, idle('end_turn')];
    for (const cutAt of [0, 1, 2, 3, 4]) {
      const { code, stdout } = await run(['helper', 'hello', '--follow'], events, { cutAt });
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'welcome\nagain\n' });
    }
  });

  it.each([
    ['session.status_terminated', 'terminated'],
    ['session.deleted', 'deleted'],
  ])('ends with the session: %s', async (type, reason) => {
    const argv = ['helper', 'hello', '-f', '-o', 'json'];
    const { code, stdout } = await run(argv, [RUNNING, { id: 'sevt_9', type }]);
    expect(code).toBe(7);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'end',
      reason,
      error: { code: reason },
    });
  });

  it(
    verifies('sessions.waiting', 'says what the Session waits for and what to type, and exits 7'),
    async () => {
      const events = [RUNNING, idle('requires_action')];
      const { code, stderr } = await run(['helper', 'hello', '--follow'], events, { waiting });
      expect(code).toBe(7);
      expect(stderr).toContain(
        'error: the session waits for an answer to the call lookup (sevt_9)',
      );
      expect(stderr).toContain('lookup of crm {"order":"A-17"}');
      expect(stderr).toContain('gateway sessions allow sess_1');
    },
  );

  it(
    verifies('sessions.waiting', 'sends no message to a Session that waits, if it is followed'),
    async () => {
      const words = ['helper', 'hello', '--session', 'sess_1'];
      const { code, stderr, calls } = await run([...words, '--follow'], [], { waiting });
      expect({ code, posts: calls.filter(({ method }) => method === 'POST') }).toEqual({
        code: 7,
        posts: [],
      });
      expect(stderr).toContain(
        'error: the session waits for an answer to the call lookup (sevt_9)',
      );
      const sent = await run(words, [], { waiting });
      expect(sent).toMatchObject({ code: 0, stdout: 'sess_1\n' });
      expect(sent.stderr).toContain('warning: the message is taken up later');
    },
  );
});
