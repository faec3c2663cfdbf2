import { afterEach, describe, expect, it } from 'vitest';
import type { WaitingCall } from '../../../src/sessions/waiting.ts';
import { askCalls } from '../../../src/cli/waiting/ask-calls.ts';
import { startFakeServer } from '../../client/fake-server.ts';
import type { FakeServer } from '../../client/fake-server.ts';
import { DATA_SHAPES } from '../../../src/cli/shapes/shapes.ts';
import { verifies } from '../../requirements.ts';
import { createAjv } from '../../support/schemas/create-ajv.ts';
import { runCli } from '../run-cli.ts';

const AT = '2026-11-21T10:00:00.000Z';
const call = (id: string, answered_by: WaitingCall['answered_by'], name = 'lookup') => ({
  id,
  answered_by,
  name,
  server: answered_by === 'user.tool_confirmation' ? 'crm' : null,
  input: { order: 17 },
});
const asked = (id: string, name?: string) => call(id, 'user.tool_confirmation', name);
const custom = (id: string, name?: string) => call(id, 'user.custom_tool_result', name);
const waits = (...calls: WaitingCall[]) => ({
  since: AT,
  message: `the session waits for an answer to ${calls.map(({ id }) => id).join(', ')}`,
  calls,
});

let server: FakeServer;
afterEach(() => server?.close());

/** A gateway with one Session that waits for this, or is in this status. */
async function run(
  argv: string[],
  {
    waiting = null,
    status = 'idle',
    stdin,
  }: Partial<Record<string, unknown>> & { stdin?: string } = {},
) {
  server = await startFakeServer(({ method, path, body }) => {
    if (path === '/v1/sessions/sess_1')
      return { body: { id: 'sess_1', status, created_at: AT, waiting } };
    if (method === 'POST' && path === '/v1/sessions/sess_1/events') {
      const { events } = body as { events: object[] };
      const data = events.map((event, at) => ({ ...event, id: `sevt_s${at}`, processed_at: AT }));
      return { body: { data } };
    }
    return { status: 404, body: { error: 'session not found' } };
  });
  const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test' };
  const done = await runCli(['sessions', ...argv], { env, ...(stdin !== undefined && { stdin }) });
  const sent = server.calls.flatMap(({ body }) => (body as { events?: object[] })?.events ?? []);
  return { ...done, sent };
}

const confirmation = (id: string, result: string, rest: object = {}) => ({
  type: 'user.tool_confirmation',
  tool_use_id: id,
  result,
  ...rest,
});
const result = (id: string, text: string, rest: object = {}) => ({
  type: 'user.custom_tool_result',
  custom_tool_use_id: id,
  content: [{ type: 'text', text }],
  ...rest,
});

describe('gateway sessions allow and deny', () => {
  it.each([
    [['allow', 'sess_1'], confirmation('sevt_1', 'allow')],
    [['approve', 'sess_1'], confirmation('sevt_1', 'allow')],
    [['deny', 'sess_1'], confirmation('sevt_1', 'deny')],
    [
      ['reject', 'sess_1', '--reason', 'no'],
      confirmation('sevt_1', 'deny', { deny_message: 'no' }),
    ],
  ])(verifies('sessions.waiting', 'answer the only call that waits: %j'), async (words, event) => {
    const waiting = waits(asked('sevt_1'), custom('sevt_2'));
    const { code, stdout, sent } = await run(words, { waiting });
    expect({ code, sent }).toEqual({ code: 0, sent: [event] });
    expect(stdout).toMatch(/^(allowed|denied) lookup \(sevt_1\)\n$/);
  });

  it(
    verifies('sessions.waiting', 'list several calls, and take one by id or name, or all'),
    async () => {
      const waiting = waits(asked('sevt_1'), asked('sevt_2', 'drop'), asked('sevt_3'));
      const several = await run(['allow', 'sess_1'], { waiting });
      expect(several).toMatchObject({ code: 5, sent: [] });
      expect(several.stderr).toContain('sevt_2  drop of crm {"order":17}');
      expect(several.stderr).toContain('--all');
      const one = await run(['allow', 'sess_1', 'sevt_3', 'drop'], { waiting });
      expect(one.sent).toEqual([confirmation('sevt_3', 'allow'), confirmation('sevt_2', 'allow')]);
      expect((await run(['deny', 'sess_1', '--all'], { waiting })).sent).toHaveLength(3);
      expect(await run(['deny', 'sess_1', 'lookup'], { waiting })).toMatchObject({
        code: 5,
        sent: [],
      });
      expect(await run(['deny', 'sess_1', 'other'], { waiting })).toMatchObject({
        code: 1,
        sent: [],
      });
      const both = await run(['deny', 'sess_1', 'drop', '--all'], { waiting });
      expect(both).toMatchObject({ code: 64, sent: [] });
    },
  );

  it(
    verifies(
      'sessions.waiting',
      'say what else the Session waits for, or that it waits for nothing',
    ),
    async () => {
      const other = await run(['allow', 'sess_1'], { waiting: waits(custom('sevt_2')) });
      expect(other).toMatchObject({ code: 5, sent: [] });
      expect(other.stderr).toContain('gateway sessions answer sess_1');
      const none = await run(['deny', 'sess_1', '-o', 'json']);
      expect(none).toMatchObject({ code: 5, sent: [] });
      expect(none.json().error.code).toBe('session_not_waiting');
      expect((await run(['allow', 'sess_2'])).stderr).toContain('there is no Session "sess_2"');
    },
  );
});

describe('gateway sessions answer', () => {
  it.each([
    [['done'], undefined, result('sevt_2', 'done')],
    [['-'], 'from stdin\n', result('sevt_2', 'from stdin')],
    [[], 'from stdin\n', result('sevt_2', 'from stdin')],
    [['--data', '{"n":[1.0]}'], undefined, result('sevt_2', '{"n":[1.0]}')],
    [['gone', '--failed'], undefined, result('sevt_2', 'gone', { is_error: true })],
  ])(
    verifies('sessions.waiting', 'gives the result of a tool: %j'),
    async (words, stdin, event) => {
      const waiting = waits(asked('sevt_1'), custom('sevt_2'));
      const { code, sent } = await run(['answer', 'sess_1', ...words], { waiting, stdin });
      expect({ code, sent }).toEqual({ code: 0, sent: [event] });
    },
  );

  it('takes one of several by --call, and one result alone', async () => {
    const waiting = waits(custom('sevt_2'), call('sevt_3', 'user.tool_result', 'bash'));
    const named = await run(['answer', 'sess_1', 'done', '--call', 'bash'], { waiting });
    const content = [{ type: 'text', text: 'done' }];
    expect(named.sent).toEqual([{ type: 'user.tool_result', tool_use_id: 'sevt_3', content }]);
    expect(await run(['answer', 'sess_1', 'done'], { waiting })).toMatchObject({
      code: 5,
      sent: [],
    });
    const twice = await run(['answer', 'sess_1', 'done', '--data', '1'], { waiting });
    expect(twice).toMatchObject({ code: 64, sent: [] });
  });
});

describe('the document of an answer', () => {
  it.each([
    ['allow', asked('sevt_1'), []],
    ['deny', asked('sevt_1'), []],
    ['answer', custom('sevt_1'), ['done']],
    ['interrupt', custom('sevt_1'), []],
  ])('of %s has the Session and what was sent', async (verb, waits1, words) => {
    const options = { waiting: waits(waits1) };
    const document = (await run([verb, 'sess_1', ...words, '-o', 'json'], options)).json();
    expect(document).toMatchObject({ schema: `gateway.sessions.${verb}/v1`, ok: true });
    const validate = createAjv().compile(DATA_SHAPES[`sessions ${verb}`] ?? false);
    expect(validate(document.data)).toBe(true);
    expect(document.data).toMatchObject({ session_id: 'sess_1', events: [{ id: 'sevt_s0' }] });
  });
});

describe('gateway sessions send and interrupt', () => {
  it(
    verifies('sessions.waiting', 'send a message, and say when it is taken up later'),
    async () => {
      const message = { type: 'user.message', content: [{ type: 'text', text: 'go on' }] };
      const free = await run(['send', 'sess_1', 'go on']);
      expect(free).toMatchObject({ code: 0, sent: [message], stderr: '' });
      const waiting = waits(asked('sevt_1'));
      const later = await run(['send', 'sess_1', 'go on'], { waiting });
      expect(later).toMatchObject({ code: 0, sent: [message] });
      expect(later.stderr).toContain('gateway sessions allow sess_1');
      const followed = await run(['send', 'sess_1', 'go on', '--follow'], { waiting });
      expect(followed).toMatchObject({ code: 7, sent: [] });
    },
  );

  it('interrupt what runs or waits, and nothing else', async () => {
    const sent = [{ type: 'user.interrupt' }];
    expect(await run(['interrupt', 'sess_1'], { status: 'running' })).toMatchObject({
      code: 0,
      sent,
    });
    const waiting = waits(asked('sevt_1'));
    expect(await run(['interrupt', 'sess_1'], { waiting })).toMatchObject({ code: 0, sent });
    expect(await run(['interrupt', 'sess_1'])).toMatchObject({ code: 5, sent: [] });
  });
});

describe('a person who is asked on a terminal', () => {
  /** A Session whose calls are answered one by one, and what was asked and sent. */
  async function ask(calls: WaitingCall[], lines: (string | undefined)[], elsewhere?: string) {
    const questions: string[] = [];
    const sent: unknown[] = [];
    let open = calls;
    const sessions = {
      get: async () => ({ id: 'sess_1', waiting: { ...waits(), calls: open } }) as never,
      async send(_id: string, [event]: readonly any[]) {
        sent.push(event);
        open = open.slice(1);
        return [];
      },
    };
    const isDone = await askCalls({ sessions }, 'sess_1', {
      async ask(question) {
        questions.push(question);
        open = open.filter(({ id }) => id !== elsewhere);
        return lines.shift();
      },
    });
    return { isDone, questions, sent };
  }

  it(
    verifies('sessions.waiting', 'allows once, denies with or without a reason, gives a result'),
    async () => {
      const calls = [asked('sevt_1'), asked('sevt_2'), asked('sevt_3'), custom('sevt_4')];
      const { isDone, questions, sent } = await ask(calls, ['y', 'N', 'not today', '', 'blue']);
      expect(isDone).toBe(true);
      expect(questions[0]).toContain('Allow lookup of crm {"order":17}?');
      expect(questions).toHaveLength(5);
      expect(sent).toEqual([
        confirmation('sevt_1', 'allow'),
        confirmation('sevt_2', 'deny'),
        confirmation('sevt_3', 'deny', { deny_message: 'not today' }),
        result('sevt_4', 'blue'),
      ]);
    },
  );

  it('leaves the rest open at the end of the input, and sends nothing that was answered elsewhere', async () => {
    const calls = [asked('sevt_1'), asked('sevt_2')];
    const left = await ask(calls, ['y', undefined]);
    expect(left).toMatchObject({ isDone: false, sent: [confirmation('sevt_1', 'allow')] });
    const elsewhere = await ask([asked('sevt_1')], ['y'], 'sevt_1');
    expect(elsewhere).toMatchObject({ isDone: true, sent: [] });
  });
});
