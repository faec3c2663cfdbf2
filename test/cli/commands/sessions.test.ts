import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { startFakeServer } from '../../client/fake-server.ts';
import type { Call, FakeServer, Handler } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';
import type { CliOptions } from '../run-cli.ts';

let server: FakeServer;
afterEach(() => server?.close());

const AT = '2026-11-21T10:00:00.000Z';
const SESSION = {
  id: 'sess_1',
  type: 'session',
  status: 'idle',
  title: null,
  agent: { id: 'agent_1', name: 'helper', version: 1 },
  endpoint_id: null,
  stats: { active_seconds: 1, duration_seconds: 2, turns: 2 },
  usage: { input_tokens: 3, list_cost: { amount: '12', currency: 'USD' }, cost: '0.125' },
  budget: { type: 'limit', max_list_cost: { amount: '2500', currency: 'USD' } },
  created_at: AT,
  updated_at: AT,
  archived_at: null,
};

let serial = 0;
const event = (type: string, rest: object = {}) => ({
  id: `sevt_${++serial}`,
  type,
  processed_at: AT,
  ...rest,
});
const RUNNING = event('session.status_running');
const SAID = event('agent.message', { content: [{ type: 'text', text: 'one\ntwo' }] });
const idle = (type: string) => event('session.status_idle', { stop_reason: { type } });
const DONE = idle('end_turn');

async function runWords(handler: Handler, argv: string[], options: CliOptions = {}) {
  server = await startFakeServer(handler);
  const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test', ...options.env };
  return { ...(await runCli(argv, { ...options, env })), calls: server.calls };
}
const run = (handler: Handler, argv: string[], options: CliOptions = {}) =>
  runWords(handler, ['sessions', ...argv], options);

/** A Session with this history; every connection to its stream tells the next of `streams` and ends. */
const session =
  (history: object[], streams: object[][] = []): Handler =>
  ({ method, path, query }: Call, response) => {
    if (path.endsWith('/stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const one of streams.shift() ?? []) response.write(`data: ${JSON.stringify(one)}\n\n`);
      response.end();
      return undefined;
    }
    const types = query.getAll('types');
    if (path.endsWith('/events')) {
      const data = history.filter((one) => types.length === 0 || types.includes((one as any).type));
      if (query.get('order') === 'desc') data.reverse();
      return { body: { data, next_page: null } };
    }
    if (path === '/v1/sessions') return { body: { data: [SESSION], next_page: null } };
    if (path.startsWith('/v1/sessions/sess_1'))
      return { body: method === 'DELETE' ? { id: 'sess_1' } : SESSION };
    return { status: 404, body: { error: 'session not found' } };
  };

const eventsOf = (stdout: string): any[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('gateway sessions', () => {
  it('lists what was asked for', async () => {
    const words = 'list --status idle --status running --agent agent_1 --archived -n 5';
    const { stdout, calls } = await run(session([]), words.split(' '));
    expect(stdout).toMatch(
      /^TITLE .* ID\n- +idle +- +- +helper +2 +0.125 of 25.00 +2026-11-21T10:00:00Z +sess_1\n$/,
    );
    expect([...(calls[0]?.query ?? [])]).toEqual([
      ['limit', '5'],
      ['include', 'outcome,waiting'],
      ['statuses', 'idle'],
      ['statuses', 'running'],
      ['agent_id', 'agent_1'],
      ['include_archived', 'true'],
    ]);
    expect((await run(session([]), ['list', '-q'])).stdout).toBe('sess_1\n');
  });

  it.each([
    ['list --waiting --status running', '--waiting and --status'],
    ['send sess_1 hi --follow --tail', '--tail and --follow'],
    ['allow sess_1 --follow --tail', '--tail and --follow'],
    ['tail sess_1 --no-follow --until-done', '--until-done and --no-follow'],
  ])('asks for nothing that cannot be: %s', async (words, named) => {
    const { code, stderr, calls } = await run(session([]), words.split(' '));
    expect(code).toBe(64);
    expect(stderr).toContain(`${named} cannot be combined`);
    expect(calls).toEqual([]);
  });

  it('shows one, and its history', async () => {
    expect((await run(session([]), ['get', 'sess_1'])).stdout).toMatch(/^status +idle$/m);
    const history = [RUNNING, SAID, DONE];
    const shown = await run(session(history), ['events', 'sess_1']);
    expect(shown.stdout.split('\n')).toEqual([
      `${AT}  session.status_running`,
      `${AT}  agent.message  one`,
      '  two',
      `${AT}  session.status_idle  end_turn`,
      '',
    ]);
    const words = ['events', 'sess_1', '--type', 'agent.message,x', '-o', 'json'];
    expect((await run(session(history), words)).json().data).toEqual([SAID]);
  });

  it('shows the digits of arguments, in the history and as they come', async () => {
    const input = '{"id":2512292042121000001,"n":[1.0]}';
    const use = `{"id":"sevt_use","type":"agent.tool_use","name":"find","input":${input},"processed_at":"${AT}"}`;
    const answers: Handler = ({ path }, response) => {
      if (!path.includes('/events')) return { body: SESSION };
      const isStream = path.endsWith('/stream');
      const type = isStream ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type });
      const data = isStream ? `data: ${use}\n\ndata: ${JSON.stringify(DONE)}\n\n` : undefined;
      response.end(data ?? `{"data":[${JSON.stringify(RUNNING)},${use}],"next_page":null}`);
      return undefined;
    };
    const shown = await run(answers, ['events', 'sess_1']);
    expect(shown.stdout, shown.stderr).toContain(`find ${input}`);
    const json = await run(answers, ['events', 'sess_1', '-o', 'json']);
    expect(json.stdout).toMatch(/"id": 2512292042121000001,\s+"n": \[\s+1\.0\s+\]/);
    const tail = await run(answers, ['tail', 'sess_1', '-n', '0', '--until-done', '-o', 'json']);
    expect(tail.stdout).toContain(use);
  });

  it.each([
    ['archive', 'POST', '/v1/sessions/sess_1/archive'],
    ['delete', 'DELETE', '/v1/sessions/sess_1'],
  ])('%s asks first', async (verb, method, path) => {
    const refused = await run(session([]), [verb, 'sess_1']);
    expect(refused.code).toBe(64);
    expect(refused.calls.every((call) => call.method === 'GET')).toBe(true);
    const done = await run(session([]), [verb, 'sess_1', '--yes']);
    expect(done.code).toBe(0);
    expect(done.calls.at(-1)).toMatchObject({ method, path });
  });

  it(
    verifies('cli.not-found', 'get, delete and tail of a missing one fail, unless that is fine'),
    async () => {
      for (const verb of ['get', 'delete', 'tail']) {
        const missing = await run(session([]), [verb, 'sess_2', '--yes']);
        expect(missing, verb).toMatchObject({ code: 1, stdout: '' });
        const fine = await run(session([]), [verb, 'sess_2', '--yes', '--ignore-not-found']);
        expect(fine, verb).toMatchObject({ code: 0, stdout: '' });
      }
    },
  );
});

describe('gateway sessions tail', () => {
  const tail = (handler: Handler, ...flags: string[]) =>
    run(handler, ['tail', 'sess_1', '--until-done', ...flags]);

  it('ends at once when the session rests, and not at an earlier rest', async () => {
    const rested = await tail(session([RUNNING, DONE]));
    expect(rested.code).toBe(0);
    expect(rested.calls.some(({ path }) => path.endsWith('/stream'))).toBe(false);
    const again = event('session.status_running');
    const { stdout } = await tail(session([RUNNING, DONE, again], [[SAID, idle('end_turn')]]));
    expect(stdout.match(/session\.status_running/g)).toHaveLength(2);
    expect(stdout).toContain('two');
  });

  it(
    verifies(
      'cli.tail.reconnect',
      'comes back behind the last event when the stream ends, which alone is no end',
    ),
    async () => {
      const { code, stdout, calls } = await tail(
        session([RUNNING], [[SAID], [], [DONE]]),
        '-o',
        'json',
      );
      expect(code).toBe(0);
      expect(eventsOf(stdout)).toEqual([
        { type: 'version', version: 1 },
        ...[RUNNING, SAID, DONE].map((one) => ({ type: 'event', event: one })),
        { type: 'end', reason: 'end_turn' },
      ]);
      const streams = calls.filter(({ path }) => path.endsWith('/stream'));
      expect(streams.map(({ headers }) => headers['last-event-id'])).toEqual([
        RUNNING.id,
        SAID.id,
        SAID.id,
      ]);
    },
  );

  it('shows once what happens while the stream of a new session is opened', async () => {
    const history: object[] = [];
    const handler = session(history, [[RUNNING, SAID, DONE]]);
    const { stdout, calls } = await tail((call, response) => {
      if (call.path.endsWith('/stream')) history.push(RUNNING, SAID);
      return handler(call, response);
    });
    expect(stdout.match(/agent\.message/g)).toHaveLength(1);
    expect(stdout.match(/status_running/g)).toHaveLength(1);
    const stream = calls.find(({ path }) => path.endsWith('/stream'));
    expect(stream?.headers['last-event-id']).toBeUndefined();
  });

  it('exits 7 when the turn failed, and says why', async () => {
    const error = event('session.error', { error: { type: 'x', message: 'no luck' } });
    const failed = await tail(session([RUNNING, error, idle('retries_exhausted')]));
    expect(failed.code).toBe(7);
    expect(failed.stderr).toContain('retries_exhausted: no luck');
    expect((await tail(session([event('session.status_terminated')]))).code).toBe(7);
  });

  it(
    verifies('cli.tail', 'shows history and what follows in order, under both of its names'),
    async () => {
      const words = ['tail', 'sess_1', '--until-done', '-o', 'json'];
      const streams = () => [[SAID], [DONE]];
      const long = await runWords(session([RUNNING], streams()), ['sessions', ...words]);
      const short = await runWords(session([RUNNING], streams()), words);
      expect(eventsOf(long.stdout).flatMap(({ event }) => event ?? [])).toEqual([
        RUNNING,
        SAID,
        DONE,
      ]);
      expect(short).toMatchObject({ code: 0, stdout: long.stdout });
    },
  );

  it(verifies('cli.tail', 'shows only the types that were named'), async () => {
    const handler = () => session([RUNNING, SAID], [[event('session.error'), DONE]]);
    const only = await tail(handler(), '--type', 'agent.message');
    expect(only).toMatchObject({ code: 0, stdout: `${AT}  agent.message  one\n  two\n` });
    for (const words of [
      ['--type', 'agent.message', '--type', 'session.status_idle'],
      ['--type', 'agent.message, session.status_idle'],
    ]) {
      const two = await tail(handler(), ...words);
      expect(two.stdout.match(/^2026\S+ {2}\S+/gm)).toEqual([
        `${AT}  agent.message`,
        `${AT}  session.status_idle`,
      ]);
    }
  });

  it(
    verifies('cli.tail', 'shows of the history its last -n events, and all that follows'),
    async () => {
      const history = [RUNNING, SAID, event('agent.message', { content: [] })];
      const shown = async (n: string, ...words: string[]) => {
        const { code, stdout } = await tail(
          session(history, [[DONE]]),
          '-n',
          n,
          '-o',
          'json',
          ...words,
        );
        expect(code).toBe(0);
        return eventsOf(stdout).flatMap((line) => line.event ?? []);
      };
      expect(await shown('2')).toEqual([history[1], history[2], DONE]);
      expect(await shown('0')).toEqual([DONE]);
      expect(await shown('9')).toEqual([...history, DONE]);
      expect(await shown('1', '--type', 'session.status_running')).toEqual([RUNNING]);
      const { calls } = await tail(session(history, [[DONE]]), '-n', '1');
      const stream = calls.find(({ path }) => path.endsWith('/stream'));
      expect(stream?.headers['last-event-id']).toBe((history[2] as { id: string }).id);
    },
  );

  it(
    verifies('cli.tail', 'shows the history alone with --no-follow, whatever came of it'),
    async () => {
      const failed = [RUNNING, idle('retries_exhausted')];
      for (const history of [[RUNNING, SAID], failed, []]) {
        const words = ['tail', 'sess_1', '--no-follow', '-o', 'json'];
        const { code, stdout, calls } = await run(session(history, [[DONE]]), words);
        expect(code).toBe(0);
        expect(eventsOf(stdout).flatMap((line) => line.event ?? [])).toEqual(history);
        expect(eventsOf(stdout).at(-1)).toEqual({ type: 'end', reason: 'history' });
        expect(calls.some(({ path }) => path.endsWith('/stream'))).toBe(false);
      }
      const both = await tail(session([]), '--no-follow');
      expect(both).toMatchObject({ code: 64, stdout: '' });
    },
  );

  it('ends at once when the session cannot be read any more', async () => {
    const handler = session([RUNNING]);
    const found = await tail(
      (call, response) =>
        call.path.endsWith('/stream')
          ? { status: 404, body: { error: 'session not found' } }
          : handler(call, response),
      '-o',
      'json',
    );
    expect(found.code).toBe(1);
    expect(eventsOf(found.stdout).at(-1)).toMatchObject({
      type: 'end',
      reason: 'error',
      error: { message: expect.stringContaining('not found'), status: 404 },
    });
  });

  it('goes on without --until-done until it is interrupted', async () => {
    const signals = new EventEmitter();
    const handler = session([RUNNING, DONE]);
    const { code, stdout } = await run(
      (call, response) => {
        if (!call.path.endsWith('/stream')) return handler(call, response);
        response.writeHead(200).write(': connected\n\n');
        setImmediate(() => signals.emit('SIGINT'));
        return undefined;
      },
      ['tail', 'sess_1', '-o', 'json'],
      { signals },
    );
    expect(code).toBe(130);
    expect(eventsOf(stdout).at(-1)).toMatchObject({ type: 'end', reason: 'interrupted' });
  });
});
