import { describe, expect, it } from 'vitest';
import { stringifyWithRaw } from '../../../src/core/json/raw.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { CUT_OFF, NOT_BEGUN } from '../../../src/sessions/open-ends.ts';
import { verifies } from '../../requirements.ts';
import { agentWithTools, LOOK_UP } from '../fake-agent.ts';
import { FakeSession } from '../fake-log.ts';
import { fakeServers } from '../fake-servers.ts';
import { loopBench, turns } from '../loop-bench.ts';
import type { Rules } from '../loop-bench.ts';

const call = (name: string, args: Record<string, string> = {}) => ({ name, arguments: args });
const onTurn = (turn: number, reply: Rules[number]['reply']): Rules[number] => ({
  match: { turn },
  reply,
});
const result = (id: string, text: string) => ({
  type: 'user.custom_tool_result' as const,
  custom_tool_use_id: id,
  content: [{ type: 'text', text }],
});
const idles = (session: FakeSession) =>
  session.of('session.status_idle').map(({ stop_reason: reason }) => reason);
const idsOf = (session: FakeSession, type: string) => session.of(type).map(({ id }) => id);
const texts = (session: FakeSession) =>
  session.of('agent.message').map(({ content }) => (content as { text: string }[])[0]?.text);

describe('a plain turn', () => {
  it(
    verifies('sessions.events.turn-order', 'runs from the message to the end in the one order'),
    async () => {
      const bench = loopBench();
      const session = new FakeSession();
      session.message('hello');
      await bench.run(session);
      expect(session.types).toEqual([
        'user.message',
        'session.status_running',
        'span.model_request_start',
        'agent.message',
        'span.model_request_end',
        'session.status_idle',
      ]);
      expect(texts(session)).toEqual(['You said: hello']);
      expect(session.of('session.status_idle')).toMatchObject([
        { stop_reason: { type: 'end_turn' }, stop_details: null },
      ]);
      expect(session.session).toMatchObject({ status: 'idle', handled: session.lastInput });
    },
  );

  it('tells the model its instructions and all that was said before', async () => {
    const bench = loopBench();
    const session = new FakeSession();
    for (const text of ['one', 'two']) {
      session.message(text);
      await bench.run(session);
    }
    const body = JSON.parse(bench.engine.calls()[1]?.body.toString() ?? '') as {
      system: unknown;
      messages: { role: string }[];
    };
    expect(body.system).toBe('Be brief.');
    expect(body.messages).toMatchObject([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'You said: one' },
      { role: 'user', content: [{ type: 'text', text: 'two' }] },
    ]);
  });

  it('shows the answer while it comes, under the id that its event has', async () => {
    const bench = loopBench({ rules: [{ reply: { text: 'a b c', chunks: 3 } }] });
    const session = new FakeSession();
    session.message('hello');
    await bench.run(session);
    const [message] = session.of('agent.message');
    expect(session.shown[0]).toEqual({
      type: 'event_start',
      event: { type: 'agent.message', id: message?.id },
    });
    const deltas = session.shown.slice(1) as unknown as {
      event_id: string;
      delta: { content: { text: string } };
    }[];
    expect(deltas.every(({ event_id: id }) => id === message?.id)).toBe(true);
    expect(deltas.map(({ delta }) => delta.content.text).join('')).toBe('a b c');
    expect(deltas.length).toBeGreaterThan(1);
  });

  it.each(['chat', 'responses', 'generate-content'] as const)(
    'is the same with a provider that speaks %s',
    async (protocol) => {
      const rules = [onTurn(1, { text: 'Let me see.', tool_calls: [call('shop__search')] })];
      const bench = loopBench({ protocol, rules });
      const session = new FakeSession(agentWithTools());
      session.message('hello');
      await bench.run(session);
      expect(session.types.slice(2)).toEqual([
        'span.model_request_start',
        'agent.message',
        'agent.mcp_tool_use',
        'span.model_request_end',
        'agent.mcp_tool_result',
        'span.model_request_start',
        'agent.message',
        'span.model_request_end',
        'session.status_idle',
      ]);
      expect(texts(session)[1]).toContain('search is done');
    },
  );

  it('hands the reasoning of the model back to it', async () => {
    const reply = { reasoning: 'hm', tool_calls: [call('shop__search')] };
    const bench = loopBench({ rules: [onTurn(1, reply)] });
    const session = new FakeSession(agentWithTools());
    session.message('hello');
    await bench.run(session);
    const [thinking] = session.of('agent.thinking');
    expect(thinking).toMatchObject({ thinking: 'hm' });
    const body = JSON.parse(bench.engine.calls()[1]?.body.toString() ?? '') as {
      messages: { content: unknown[] }[];
    };
    expect(body.messages[1]?.content[0]).toEqual({
      type: 'thinking',
      thinking: 'hm',
      signature: thinking?.['signature'],
    });
  });

  it('ends with a refusal where the model refuses', async () => {
    const bench = loopBench({ rules: [{ reply: { refusal: 'No.' } }] });
    const session = new FakeSession();
    session.message('hello');
    await bench.run(session);
    expect(idles(session)).toEqual([{ type: 'refusal' }]);
  });
});

describe('messages that are sent while a turn runs', () => {
  it(verifies('sessions.turn.queue', 'get a turn of their own each, in order'), async () => {
    const bench = loopBench();
    const session = new FakeSession();
    session.message('one');
    session.message('two');
    const run = bench.run(session);
    session.message('three');
    await run;
    expect(texts(session)).toEqual(['You said: one', 'You said: two', 'You said: three']);
    expect(idles(session)).toEqual([1, 2, 3].map(() => ({ type: 'end_turn' })));
    const last = JSON.parse(bench.engine.calls()[2]?.body.toString() ?? '') as {
      messages: { role: string }[];
    };
    expect(last.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
  });

  it('a message of the operator goes with the one behind which it stands', async () => {
    const bench = loopBench();
    const session = new FakeSession();
    session.send(
      { type: 'user.message', content: [{ type: 'text', text: 'one' }] },
      { type: 'system.message', content: [{ type: 'text', text: 'Rhyme.' }] },
    );
    session.message('two');
    await bench.run(session);
    const systems = bench.engine
      .calls()
      .map(({ body }) =>
        JSON.stringify((JSON.parse(body.toString()) as { system: unknown }).system),
      );
    expect(systems[0]).toContain('Rhyme.');
    expect(systems).toHaveLength(2);
  });
});

describe('an interrupt', () => {
  const slow: Rules = [
    { match: { times: 1 }, reply: { text: 'a b c d', chunks: 4, chunk_delay_ms: 60_000 } },
  ];

  it(
    verifies('sessions.turn.interrupt', 'cuts the model call and leaves nothing of its answer'),
    async () => {
      const bench = loopBench({ rules: slow });
      const session = new FakeSession();
      session.message('hello');
      const work = bench.loop.run(session.open(), new AbortController().signal);
      await turns();
      bench.clock.advance(60_000);
      await turns();
      expect(bench.engine.calls()[0]?.outcome).toBe('open');
      session.send({ type: 'user.interrupt' });
      await turns();
      await work;
      expect(session.types.slice(2)).toEqual([
        'span.model_request_start',
        'user.interrupt',
        'span.model_request_end',
        'session.status_idle',
      ]);
      expect(idles(session)).toEqual([{ type: 'end_turn' }]);
      expect(bench.engine.calls()[0]?.outcome).toBe('aborted');
      expect(bench.outcomes).toMatchObject([{ result: 'aborted' }]);
      expect(bench.held.count).toBe(0);
      expect(session.session).toMatchObject({ status: 'idle', handled: session.lastInput });

      session.message('again');
      await bench.run(session);
      expect(texts(session)).toEqual(['You said: again']);
    },
  );

  it('stops a tool, and the model is told so later', async () => {
    const rules = [{ match: { text: 'buy' }, reply: { tool_calls: [call('shop__order')] } }];
    const servers = fakeServers({
      onCall: (_name, signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('stopped'))),
        ),
    });
    const bench = loopBench({ rules, servers });
    const session = new FakeSession(agentWithTools());
    session.message('buy');
    const work = bench.loop.run(session.open(), new AbortController().signal);
    await turns();
    session.send({ type: 'user.interrupt' });
    await turns();
    await work;
    expect(session.types.slice(-3)).toEqual([
      'user.interrupt',
      'agent.mcp_tool_result',
      'session.status_idle',
    ]);
    expect(session.of('agent.mcp_tool_result')).toMatchObject([{ is_error: true }]);
    expect(servers.open_).toBe(0);
    session.message('hello');
    await bench.run(session);
    const body = bench.engine.calls()[1]?.body.toString() ?? '';
    expect(body).toContain('"is_error":true');
  });

  it('tells a call that nobody was permitted to run from one that was cut off', async () => {
    const servers = fakeServers();
    const rules = [onTurn(1, { tool_calls: [call('shop__order')] })];
    const bench = loopBench({ rules, servers });
    const session = new FakeSession(agentWithTools('always_ask'));
    session.message('hello');
    await bench.run(session);
    session.send({ type: 'user.interrupt' });
    await bench.run(session);
    expect(servers.calls).toEqual([]);
    expect(session.of('agent.mcp_tool_result')).toMatchObject([
      { is_error: true, content: [{ text: NOT_BEGUN }] },
    ]);
  });

  it('tells the calls that it came to from those that still stood in line', async () => {
    const servers = fakeServers({
      onCall: (_name, signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('stopped'))),
        ),
    });
    const calls = Array.from({ length: 10 }, (_, index) => call('shop__order', { n: `${index}` }));
    const bench = loopBench({ rules: [onTurn(1, { tool_calls: calls })], servers });
    const session = new FakeSession(agentWithTools());
    session.message('hello');
    const work = bench.loop.run(session.open(), new AbortController().signal);
    await turns();
    session.send({ type: 'user.interrupt' });
    await work;
    const begun = servers.calls.length;
    const told = session.of('agent.mcp_tool_result').map(({ content }) => (content as any)[0].text);
    expect(begun).toBeLessThan(calls.length);
    expect(told).toEqual(calls.map((_, index) => (index < begun ? CUT_OFF : NOT_BEGUN)));
  });

  it('gives up a wait for the client', async () => {
    const bench = loopBench({ rules: [onTurn(1, { tool_calls: [call('look_up')] })] });
    const session = new FakeSession({ tools: [LOOK_UP] });
    session.message('hello');
    await bench.run(session);
    session.send({ type: 'user.interrupt' });
    await bench.run(session);
    expect(idles(session).at(-1)).toEqual({ type: 'end_turn' });
    session.message('go on');
    await bench.run(session);
    expect(idles(session).at(-1)).toEqual({ type: 'end_turn' });
    expect(texts(session)).toEqual(['You said: go on']);
    expect(bench.engine.calls()[1]?.body.toString()).toContain('"is_error":true');
  });

  it('stops the turn of a message that stands before it, not of one behind it', async () => {
    const bench = loopBench();
    const session = new FakeSession();
    session.message('one');
    session.send({ type: 'user.interrupt' });
    session.message('two');
    await bench.run(session);
    expect(texts(session)).toEqual(['You said: two']);
    session.send({ type: 'user.interrupt' });
    session.message('three');
    await bench.run(session);
    expect(texts(session)).toEqual(['You said: two', 'You said: three']);
  });
});

describe('custom tools', () => {
  const two = [onTurn(1, { tool_calls: [call('look_up', { what: 'a' }), call('look_up')] })];

  it(verifies('sessions.turn.custom-tool', 'wait for every result of the client'), async () => {
    const bench = loopBench({ rules: two });
    const session = new FakeSession({ tools: [LOOK_UP] });
    session.message('hello');
    await bench.run(session);
    const [first = '', second = ''] = idsOf(session, 'agent.custom_tool_use');
    expect(session.of('agent.custom_tool_use')).toMatchObject([
      { name: 'look_up', input: { what: 'a' } },
      { name: 'look_up', input: {} },
    ]);
    expect(idles(session)).toEqual([{ type: 'requires_action', event_ids: [first, second] }]);

    session.send(result(second, 'later'));
    await bench.run(session);
    expect(idles(session)[1]).toEqual({ type: 'requires_action', event_ids: [first] });
    expect(bench.engine.calls()).toHaveLength(1);

    session.send(result(first, 'sooner'));
    await bench.run(session);
    expect(session.types.slice(-5)).toEqual([
      'session.status_running',
      'span.model_request_start',
      'agent.message',
      'span.model_request_end',
      'session.status_idle',
    ]);
    expect(texts(session)[0]).toContain('sooner');
    expect(session.session.handled).toBe(session.lastInput);
  });

  it('a message waits until they are answered', async () => {
    const bench = loopBench({
      rules: [{ ...two[0], match: { turn: 1, times: 1 } } as Rules[number]],
    });
    const session = new FakeSession({ tools: [LOOK_UP] });
    session.message('hello');
    await bench.run(session);
    session.message('next');
    await bench.run(session);
    expect(session.of('agent.message')).toEqual([]);
    expect(session.session.handled).toBe(session.lastInput);
    session.send(...idsOf(session, 'agent.custom_tool_use').map((id) => result(id, 'x')));
    await bench.run(session);
    expect(texts(session)).toHaveLength(2);
    expect(texts(session)[1]).toBe('You said: next');
  });

  it('calls that make no sense are answered at once', async () => {
    const calls = [call('nothing'), { name: 'look_up', arguments: '{"what":' }];
    const bench = loopBench({ rules: [onTurn(1, { tool_calls: calls })] });
    const session = new FakeSession({ tools: [LOOK_UP] });
    session.message('hello');
    await bench.run(session);
    expect(session.of('agent.tool_use')).toHaveLength(2);
    expect(session.of('agent.tool_result').map(({ is_error: isError }) => isError)).toEqual([
      true,
      true,
    ]);
    expect(idles(session)).toEqual([{ type: 'end_turn' }]);
  });

  it.each(['messages', 'chat', 'responses', 'generate-content'] as const)(
    verifies('numbers.kept', 'arguments of calls keep their digits in events and requests: %s'),
    async (protocol) => {
      const text = '{"id":2512292042121000001,"n":[1.0,1e2,-0]}';
      const calls = [
        { name: 'look_up', arguments: text },
        { name: 'shop__search', arguments: text },
      ];
      const servers = fakeServers();
      const bench = loopBench({ rules: [onTurn(1, { tool_calls: calls })], servers, protocol });
      const session = new FakeSession(agentWithTools());
      session.message('hello');
      await bench.run(session);
      const [use] = session.of('agent.custom_tool_use');
      expect(stringifyWithRaw(use?.['input'])).toBe(text);
      expect(servers.calls).toEqual([`search ${text}`]);
      session.send(result(String(use?.id), 'found'));
      await bench.run(session);
      const asked = bench.engine.calls()[1]?.body.toString() ?? '';
      const places = asked.split(/2512292042121000001,\\*"n\\*":\[1\.0,1e2,-0\]/);
      expect(places).toHaveLength(3);
    },
  );

  it.each(['{"id":1e400}', '{"id":[-1e999]}', `{"id":${'['.repeat(600)}${']'.repeat(600)}}`])(
    verifies('numbers.kept', 'calls whose arguments no event can hold are refused once: %#'),
    async (text) => {
      const calls = [{ name: 'look_up', arguments: text }];
      const bench = loopBench({ rules: [onTurn(1, { tool_calls: calls })] });
      const session = new FakeSession({ tools: [LOOK_UP] });
      session.message('hello');
      await bench.run(session);
      expect(session.of('agent.custom_tool_use')).toEqual([]);
      const [result, ...others] = session.of('agent.tool_result');
      expect(others).toEqual([]);
      expect(result?.is_error).toBe(true);
      expect(JSON.stringify(result)).toContain('beyond 1.8e308');
      expect(session.of('span.model_request_start')).toHaveLength(2);
      expect(idles(session)).toEqual([{ type: 'end_turn' }]);
    },
  );
});

describe('tools that the client runs', () => {
  const toolset = {
    type: 'agent_toolset_20260401',
    configs: [
      { name: 'write', permission_policy: { type: 'always_ask' } },
      { name: 'web_search', enabled: false },
    ],
  } as const;
  const rules = [onTurn(1, { tool_calls: [call('bash', { command: 'ls' }), call('write')] })];

  it(
    verifies('sessions.turn.builtin-tools', 'are offered as they are switched on, and awaited'),
    async () => {
      const bench = loopBench({ rules });
      const session = new FakeSession({ tools: [toolset] });
      session.message('hello');
      await bench.run(session);
      const { tools } = JSON.parse(bench.engine.calls()[0]?.body.toString() ?? '') as {
        tools: { name: string }[];
      };
      expect(tools.map(({ name }) => name)).toEqual([
        'bash',
        'edit',
        'read',
        'write',
        'glob',
        'grep',
        'web_fetch',
      ]);
      expect(session.of('agent.tool_use')).toMatchObject([
        { name: 'bash', input: { command: 'ls' }, evaluated_permission: 'allow' },
        { name: 'write', evaluated_permission: 'ask' },
      ]);
      const [bash = '', write = ''] = idsOf(session, 'agent.tool_use');
      expect(idles(session)).toEqual([{ type: 'requires_action', event_ids: [bash, write] }]);
      session.send(
        { type: 'user.tool_confirmation', tool_use_id: write, result: 'deny', deny_message: 'no!' },
        { type: 'user.tool_result', tool_use_id: bash, content: [{ type: 'text', text: 'a.txt' }] },
      );
      await bench.run(session);
      expect(session.of('agent.tool_result')).toMatchObject([
        { tool_use_id: write, is_error: true, content: [{ type: 'text', text: 'no!' }] },
      ]);
      const [, asked] = bench.engine.calls();
      expect(asked?.body.toString()).toContain('a.txt');
      expect(asked?.body.toString()).toContain('no!');
      expect(idles(session).at(-1)).toEqual({ type: 'end_turn' });
    },
  );
});

describe('tools of servers', () => {
  const rules = [onTurn(1, { tool_calls: [call('shop__order', { what: 'tea' })] })];

  it('run, and the model reads what came of it', async () => {
    const servers = fakeServers();
    const bench = loopBench({ rules, servers });
    const session = new FakeSession(agentWithTools());
    session.message('hello');
    await bench.run(session);
    expect(session.of('agent.mcp_tool_use')).toMatchObject([
      {
        mcp_server_name: 'shop',
        name: 'order',
        input: { what: 'tea' },
        evaluated_permission: 'allow',
      },
    ]);
    const [use] = idsOf(session, 'agent.mcp_tool_use');
    expect(session.of('agent.mcp_tool_result')).toMatchObject([
      { mcp_tool_use_id: use, is_error: false, content: [{ text: 'order is done' }] },
    ]);
    expect(servers.calls).toEqual(['order {"what":"tea"}']);
    expect(servers.open_).toBe(0);
  });

  it(
    verifies(
      'sessions.turn.confirmation',
      'wait for the word of the client where it is to be asked',
    ),
    async () => {
      const servers = fakeServers();
      const bench = loopBench({ rules, servers });
      const session = new FakeSession(agentWithTools('always_ask'));
      session.message('hello');
      await bench.run(session);
      const [use = ''] = idsOf(session, 'agent.mcp_tool_use');
      expect(idles(session)).toEqual([{ type: 'requires_action', event_ids: [use] }]);
      expect(servers.calls).toEqual([]);
      session.send({ type: 'user.tool_confirmation', tool_use_id: use, result: 'allow' });
      await bench.run(session);
      expect(servers.calls).toHaveLength(1);
      expect(idles(session).at(-1)).toEqual({ type: 'end_turn' });
    },
  );

  it(
    verifies(
      'sessions.turn.confirmation',
      'are not run where the client says no, and the model reads why',
    ),
    async () => {
      const servers = fakeServers();
      const bench = loopBench({ rules, servers });
      const session = new FakeSession(agentWithTools('always_ask'));
      session.message('hello');
      await bench.run(session);
      const [use = ''] = idsOf(session, 'agent.mcp_tool_use');
      const deny_message = 'too expensive';
      session.send({
        type: 'user.tool_confirmation',
        tool_use_id: use,
        result: 'deny',
        deny_message,
      });
      await bench.run(session);
      expect(servers.calls).toEqual([]);
      expect(session.of('agent.mcp_tool_result')).toMatchObject([
        { mcp_tool_use_id: use, is_error: true, content: [{ text: deny_message }] },
      ]);
      expect(bench.engine.calls()[1]?.body.toString()).toContain(deny_message);
    },
  );

  it('the policy `auto` asks for what is not read-only', async () => {
    const both = [call('shop__order'), call('shop__search')];
    const bench = loopBench({ rules: [onTurn(1, { tool_calls: both })] });
    const session = new FakeSession(agentWithTools('auto'));
    session.message('hello');
    await bench.run(session);
    expect(session.of('agent.mcp_tool_use')).toMatchObject([
      { name: 'order', evaluated_permission: 'ask' },
      { name: 'search', evaluated_permission: 'allow' },
    ]);
  });

  it.each([
    ['connection', 'mcp_connection_failed_error'],
    ['authentication', 'mcp_authentication_failed_error'],
  ] as const)(
    'a server that fails by its %s is named, and the turn goes on',
    async (failure, type) => {
      const bench = loopBench({ servers: fakeServers({ failure }) });
      const session = new FakeSession(agentWithTools());
      session.message('hello');
      await bench.run(session);
      expect(session.of('session.error')).toMatchObject([
        { error: { type, mcp_server_name: 'shop', retry_status: { type: 'retrying' } } },
      ]);
      expect(texts(session)).toEqual(['You said: hello']);
      expect(idles(session)).toEqual([{ type: 'end_turn' }]);
    },
  );

  it(verifies('sessions.turn.errors', 'a turn of more than 50 rounds is given up'), async () => {
    const servers = fakeServers();
    const bench = loopBench({
      rules: [{ reply: { tool_calls: [call('shop__search')] } }],
      servers,
    });
    const session = new FakeSession(agentWithTools());
    session.message('hello');
    await bench.run(session);
    expect(servers.calls).toHaveLength(50);
    expect(session.of('session.error')).toMatchObject([
      { error: { type: 'tool_use_limit_reached_error', retry_status: { type: 'exhausted' } } },
    ]);
    expect(idles(session)).toEqual([{ type: 'retries_exhausted' }]);
  });
});

describe('failures of the model', () => {
  it(verifies('sessions.turn.errors', 'that pass are told, waited for and overcome'), async () => {
    const rules = [{ match: { times: 2 }, reply: { status: 503 } }];
    const bench = loopBench({ rules });
    const session = new FakeSession();
    session.message('hello');
    const started = bench.clock.now();
    await bench.run(session);
    const failed = [
      'span.model_request_start',
      'span.model_request_end',
      'session.error',
      'session.status_rescheduled',
      'session.status_running',
    ];
    expect(session.types).toEqual([
      'user.message',
      'session.status_running',
      ...failed,
      ...failed,
      'span.model_request_start',
      'agent.message',
      'span.model_request_end',
      'session.status_idle',
    ]);
    expect(session.of('session.error')[0]).toMatchObject({
      error: { type: 'model_overloaded_error', retry_status: { type: 'retrying' } },
    });
    expect(bench.clock.now() - started).toBeGreaterThanOrEqual(3000);
  });

  it('a stream that breaks off is asked for again, and nothing of it stays', async () => {
    const rules = [{ match: { times: 1 }, reply: { text: 'a b c', chunks: 3, cut_after: 2 } }];
    const bench = loopBench({ rules });
    const session = new FakeSession();
    session.message('hello');
    await bench.run(session);
    expect(texts(session)).toEqual(['You said: hello']);
    expect(session.of('session.error')).toHaveLength(1);
  });

  it(
    verifies('sessions.turn.errors', 'that do not pass end the turn when the retries are spent'),
    async () => {
      const bench = loopBench({ rules: [{ reply: { status: 503 } }] });
      const session = new FakeSession();
      session.message('hello');
      await bench.run(session);
      expect(bench.engine.calls()).toHaveLength(6);
      expect(session.of('session.error').at(-1)).toMatchObject({
        error: { retry_status: { type: 'exhausted' } },
      });
      expect(idles(session)).toEqual([{ type: 'retries_exhausted' }]);
      expect(session.session.status).toBe('idle');
    },
  );

  it('that are the fault of the request are not repeated', async () => {
    const bench = loopBench({ rules: [{ reply: { status: 400, error: { message: 'bad' } } }] });
    const session = new FakeSession();
    session.message('hello');
    await bench.run(session);
    expect(bench.engine.calls()).toHaveLength(1);
    expect(session.of('session.error')).toMatchObject([
      { error: { type: 'model_request_failed_error', message: 'bad' } },
    ]);
    expect(idles(session)).toEqual([{ type: 'retries_exhausted' }]);
  });

  it(
    verifies('sessions.turn.errors', 'of spending are told as such and not repeated'),
    async () => {
      const checkFunds = () => {
        throw new GatewayError('organization_spending_limit');
      };
      const bench = loopBench({ ledger: { checkFunds } });
      const session = new FakeSession();
      session.message('hello');
      await bench.run(session);
      expect(bench.engine.calls()).toEqual([]);
      expect(session.of('session.error')).toMatchObject([
        { error: { type: 'billing_error', retry_status: { type: 'exhausted' } } },
      ]);
      expect(bench.held.count).toBe(0);
    },
  );

  it('a bug is reported, and told as an internal error', async () => {
    const bug = new TypeError('secret detail');
    const checkFunds = () => {
      throw bug;
    };
    const bench = loopBench({ ledger: { checkFunds } });
    const session = new FakeSession();
    session.message('hello');
    await bench.run(session);
    expect(bench.bugs).toEqual([bug]);
    expect(session.of('session.error')).toMatchObject([{ error: { message: 'internal error' } }]);
    expect(idles(session)).toEqual([{ type: 'retries_exhausted' }]);
  });

  it('an interrupt ends the wait for the next try', async () => {
    const bench = loopBench({ rules: [{ reply: { status: 503 } }] });
    const session = new FakeSession();
    session.message('hello');
    const work = bench.loop.run(session.open(), new AbortController().signal);
    await turns();
    expect(session.session.status).toBe('rescheduling');
    session.send({ type: 'user.interrupt' });
    await turns();
    await work;
    expect(session.types.slice(-2)).toEqual(['session.status_running', 'session.status_idle']);
    expect(bench.clock.pending).toBe(0);
  });
});

describe('what a turn costs', () => {
  it(
    verifies('sessions.turn.billing', 'is recorded for the payer and added up in the Session'),
    async () => {
      const usage = {
        input_tokens: 7,
        output_tokens: 5,
        cache_read_tokens: 3,
        cache_write_tokens: 2,
      };
      const rules = [
        onTurn(1, { tool_calls: [call('shop__search')], usage }),
        { reply: { text: 'x', usage } },
      ];
      const payers: string[] = [];
      const bench = loopBench({ rules, admit: ({ keyId }) => void payers.push(keyId) });
      const session = new FakeSession(agentWithTools());
      session.message('hello');
      await bench.run(session);
      expect(bench.starts).toMatchObject([
        { surface: 'session', model: 'acme/fast', principal: { organizationId: 'org_1' } },
        { surface: 'session' },
      ]);
      expect(payers).toEqual(['key_1', 'key_1']);
      expect(bench.outcomes).toMatchObject([{ usage: { input: 7, output: 5 } }, { result: 'ok' }]);
      expect(session.of('span.model_request_end')).toMatchObject(
        [1, 2].map(() => ({
          is_error: false,
          model_usage: {
            input_tokens: 7,
            output_tokens: 5,
            cache_read_input_tokens: 3,
            cache_creation_input_tokens: 2,
          },
        })),
      );
      expect(session.session.usage).toEqual({
        input_tokens: 14,
        output_tokens: 10,
        cache_read_input_tokens: 6,
        cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 0 },
      });
    },
  );
});

describe('a process that stops', () => {
  it('leaves the turn as it is, for another to go on with', async () => {
    const rules = [{ match: { times: 1 }, reply: { text: 'a b', chunk_delay_ms: 60_000 } }];
    const bench = loopBench({ rules });
    const session = new FakeSession();
    session.message('hello');
    const stop = new AbortController();
    const work = bench.loop.run(session.open(), stop.signal);
    await turns();
    const before = session.types;
    stop.abort();
    await turns();
    await work;
    expect(session.types).toEqual(before);
    await bench.run(session);
    const starts = idsOf(session, 'span.model_request_start');
    expect(starts).toHaveLength(2);
    expect(
      session.of('span.model_request_end').map(({ model_request_start_id: id }) => id),
    ).toEqual(starts);
    expect(texts(session)).toEqual(['You said: hello']);
  });
});
