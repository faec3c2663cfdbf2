import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/gateway.ts';
import { NOT_BEGUN } from '../../../src/sessions/open-ends.ts';
import { verifies } from '../../requirements.ts';
import { KEY } from './harness-options.ts';
import { createStand, ofType, reaperOfFile, typesOf } from './stand.ts';

const reaper = reaperOfFile();

const toolset = (policy: 'always_allow' | 'always_ask' | 'auto') =>
  ({
    tools: [
      {
        type: 'agent_toolset_20260401',
        configs: [{ name: 'read', permission_policy: { type: policy } }],
      },
    ],
  }) as const;

describe('an ACP agent as a harness', () => {
  it(
    verifies(
      'harness.acp-agents',
      'sessions.identity.no-internal-ids',
      'runs a turn, its words and tool calls being events',
    ),
    async () => {
      const stand = await createStand({ reaper, protocol: 'acp' });
      await stand.say('tools');
      const events = await stand.idle();
      expect(typesOf(events)).toEqual([
        'user.message',
        'session.status_running',
        'span.model_request_start',
        'agent.thinking',
        'agent.message',
        'agent.tool_use',
        'agent.tool_result',
        'agent.message',
        'span.model_request_end',
        'session.status_idle',
      ]);
      const [use] = ofType(events, 'agent.tool_use');
      expect(use).toMatchObject({
        name: 'read',
        input: { path: 'notes.txt' },
        evaluated_permission: 'allow',
      });
      expect(ofType(events, 'agent.tool_result')[0]).toMatchObject({
        tool_use_id: use?.id,
        content: [{ type: 'text', text: `the notes of ${stand.session.id}` }],
        is_error: false,
      });
      expect(ofType(events, 'agent.message').map(({ content }) => content)).toEqual([
        [{ type: 'text', text: 'I read.' }],
        [{ type: 'text', text: 'Done.' }],
      ]);
      expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
      expect(JSON.stringify(events)).not.toContain('inside-4711');
      const { outcome } = (await stand.notes()).find((note) => note.outcome);
      expect(outcome).toEqual({ outcome: 'selected', optionId: 'yes' });
    },
  );

  it('is offered neither files nor terminals, and an empty private directory', async () => {
    const stand = await createStand({
      reaper,
      protocol: 'acp',
      agent: {
        mcp_servers: [
          { type: 'url', name: 'web', url: 'https://shop.example/mcp' },
          { type: 'url', name: 'bad', url: 'http://inside.example/mcp' },
          { type: 'stdio', name: 'shop', server: 'shop' },
        ],
      },
    });
    await stand.say('environment');
    const events = await stand.idle();
    const notes = await stand.notes();
    expect(notes[0].initialize).toMatchObject({
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    expect(notes[1].new).toMatchObject({
      cwd: `${stand.directory}/work/${stand.session.id}`,
      mcpServers: [
        { type: 'http', name: 'web', url: 'https://shop.example/mcp', headers: [] },
        { name: 'shop', command: 'shop', args: ['-v'], env: [] },
      ],
    });
    expect(ofType(events, 'session.error')[0]).toMatchObject({
      error: { type: 'mcp_connection_failed_error', mcp_server_name: 'bad' },
    });
    const [message] = ofType(events, 'agent.message');
    expect(message?.['content']).toEqual([
      {
        type: 'text',
        text: `AGENT_API_KEY AGENT_GATEWAY_HARNESS NOTES PATH | ${stand.directory}/work/${stand.session.id} | 0`,
      },
    ]);
  });

  it('shows its words while they come, and never a secret in them', async () => {
    const stand = await createStand({ reaper, protocol: 'acp' });
    const stop = new AbortController();
    const shown: any[] = [];
    const following = (async () => {
      const { organization, id } = stand.session;
      const signal = stop.signal;
      const deltas = ['agent.message'];
      const followed = await stand.sessions.follow(organization, id, { signal, deltas });
      for await (const one of followed) {
        shown.push(one);
        if ((one as any).event?.type === 'session.status_idle') return;
      }
    })();
    await stand.say('secret');
    const events = await stand.idle();
    await following;
    const parts = shown.filter(({ type }) => type === 'event_delta');
    const [message] = ofType(events, 'agent.message');
    const said = `[redacted] ${stand.session.id}`;
    expect(message?.['content']).toEqual([{ type: 'text', text: said }]);
    expect(parts.map(({ delta }) => delta.content.text).join('')).toBe(said);
    expect(parts.every((part) => part.event_id === message?.id)).toBe(true);
    const line = await eventually(() =>
      stand.logged.find(({ fields }) => String(fields['line']).includes('my key')),
    );
    expect(JSON.stringify([shown, events, stand.logged])).not.toContain(KEY);
    expect(line.fields).toMatchObject({ harness: 'tester', session: stand.session.id });
  });

  it('keeps its process between turns, so that it knows what was said', async () => {
    const stand = await createStand({ reaper, protocol: 'acp' });
    await stand.say('one');
    await stand.idle();
    await stand.say('two');
    const events = await stand.idle(2);
    const prompts = (await stand.notes()).flatMap(({ prompt }) => prompt ?? []);
    expect(prompts.map(({ text }) => text)).toEqual(['Be brief.', 'one', 'two']);
    expect(ofType(events, 'agent.message')[1]?.['content']).toEqual([
      { type: 'text', text: 'You said two' },
    ]);
  });

  it('ends its turn when the client interrupts in place of an answer', async () => {
    const stand = await createStand({ reaper, protocol: 'acp', agent: toolset('always_ask') });
    await stand.say('tools');
    await stand.idle();
    await stand.send({ type: 'user.interrupt' });
    const events = await stand.idle(2);
    expect(ofType(events, 'agent.tool_result')[0]).toMatchObject({
      is_error: true,
      content: [{ text: NOT_BEGUN }],
    });
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
    expect(await stand.processes()).toBe(0);
  });

  it('does not go on with a call whose process is gone when the client answers', async () => {
    const agent = toolset('always_ask');
    const stand = await createStand({ reaper, protocol: 'acp', agent });
    await stand.say('tools');
    const [use] = ofType(await stand.idle(), 'agent.tool_use');
    await stand.stop();
    const { directory, store } = stand;
    await createStand({ reaper, protocol: 'acp', agent, directory, store });
    await stand.send({ type: 'user.tool_confirmation', tool_use_id: use?.id, result: 'allow' });
    const events = await stand.idle(2);
    expect(ofType(events, 'agent.tool_result')[0]).toMatchObject({ is_error: true });
    expect(ofType(events, 'session.error')[0]).toMatchObject({ error: { code: 'interrupted' } });
  });

  it(verifies('harness.acp-agents', 'asks the client by always_ask and goes on'), async () => {
    const stand = await createStand({ reaper, protocol: 'acp', agent: toolset('always_ask') });
    await stand.say('tools');
    const waiting = await stand.idle();
    const [use] = ofType(waiting, 'agent.tool_use');
    expect(use).toMatchObject({ evaluated_permission: 'ask' });
    expect(waiting.at(-1)).toMatchObject({
      stop_reason: { type: 'requires_action', event_ids: [use?.id] },
    });
    await stand.send({ type: 'user.tool_confirmation', tool_use_id: use?.id, result: 'allow' });
    const events = await stand.idle(2);
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
    expect(ofType(events, 'agent.tool_result')[0]).toMatchObject({ is_error: false });
  });

  it('is told no when the client denies, with the reason as the result', async () => {
    const stand = await createStand({ reaper, protocol: 'acp', agent: toolset('always_ask') });
    await stand.say('tools');
    const [use] = ofType(await stand.idle(), 'agent.tool_use');
    const denial = { result: 'deny', deny_message: 'not that file' };
    await stand.send({ type: 'user.tool_confirmation', tool_use_id: use?.id, ...denial });
    const events = await stand.idle(2);
    expect(ofType(events, 'agent.tool_result')).toHaveLength(1);
    expect(ofType(events, 'agent.tool_result')[0]).toMatchObject({
      is_error: true,
      content: [{ type: 'text', text: 'not that file' }],
    });
    const { outcome } = (await stand.notes()).find((note) => note.outcome);
    expect(outcome).toEqual({ outcome: 'selected', optionId: 'no' });
    expect(ofType(events, 'agent.message').at(-1)).toMatchObject({
      content: [{ type: 'text', text: 'Not done.' }],
    });
  });

  it.each([
    ['refuse', { stop_reason: { type: 'refusal' }, stop_details: { type: 'refusal' } }, undefined],
    ['long', { stop_reason: { type: 'end_turn' } }, 'cut_short'],
    ['fail', { stop_reason: { type: 'retries_exhausted' } }, 'failed'],
  ])('tells the end of a turn that stops by %s', async (deed, last, code) => {
    const stand = await createStand({ reaper, protocol: 'acp' });
    await stand.say(deed);
    const events = await stand.idle();
    expect(events.at(-1)).toMatchObject(last);
    const [error] = ofType(events, 'session.error');
    expect((error?.['error'] as any)?.code).toBe(code);
    expect(JSON.stringify(events)).not.toContain(KEY);
  });
});
