import { describe, expect, it } from 'vitest';
import { stringifyWithRaw } from '../../../src/core/json/raw.ts';
import { eventually } from '../../support/gateway.ts';
import { createStand, ofType, reaperOfFile, typesOf } from './stand.ts';

const reaper = reaperOfFile();

const said = (message: unknown) => (message as any)?.content[0].text;

describe('a program that speaks JSON lines as a harness', () => {
  it('tells words, thoughts and tool calls, a whole message in place of its parts', async () => {
    const stand = await createStand({ reaper, protocol: 'jsonl' });
    await stand.say('speak');
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
    expect(ofType(events, 'agent.message').map(said)).toEqual(['Good day.', 'Bye.']);
    const [use] = ofType(events, 'agent.tool_use');
    expect(stringifyWithRaw(use?.['input'])).toBe(
      '{"pattern":"x","id":2512292042121000001,"n":[1.0]}',
    );
    expect(ofType(events, 'agent.tool_result')[0]).toMatchObject({
      tool_use_id: use?.id,
      content: [{ type: 'text', text: 'found' }],
    });
    const [turn] = await stand.notes();
    expect(turn).toEqual({
      type: 'turn',
      session_id: stand.session.id,
      agent: { name: 'one', system: 'Be brief.', model: 'acme/fast' },
      input: [{ type: 'user.message', content: [{ type: 'text', text: 'speak' }] }],
      history: [],
    });
  });

  it('waits for the client when it asks for leave', async () => {
    const policy = { default_config: { permission_policy: { type: 'always_ask' } } } as const;
    const tools = [{ type: 'agent_toolset_20260401', ...policy }] as const;
    const stand = await createStand({ reaper, protocol: 'jsonl', agent: { tools } });
    await stand.say('ask');
    const [use] = ofType(await stand.idle(), 'agent.tool_use');
    await stand.send({ type: 'user.tool_confirmation', tool_use_id: use?.id, result: 'allow' });
    const events = await stand.idle(2);
    expect(said(ofType(events, 'agent.message')[0])).toBe('It was allow.');
    expect(typesOf(events).filter((type) => type.includes('.status_'))).toEqual([
      'session.status_running',
      'session.status_idle',
      'session.status_running',
      'session.status_idle',
    ]);
    expect((await stand.notes())[1]).toEqual({ type: 'permission', id: 't2', result: 'allow' });
  });

  it('is refused a tool that the Agent has switched off', async () => {
    const tools = [
      { type: 'agent_toolset_20260401', configs: [{ name: 'bash', enabled: false }] },
    ] as const;
    const stand = await createStand({ reaper, protocol: 'jsonl', agent: { tools } });
    await stand.say('ask');
    const events = await stand.idle();
    expect(ofType(events, 'agent.tool_use')[0]).toMatchObject({ evaluated_permission: 'deny' });
    expect(ofType(events, 'agent.tool_result')[0]).toMatchObject({ is_error: true });
    expect(said(ofType(events, 'agent.message')[0])).toBe('It was deny.');
  });

  it.each([
    ['garbage', 'invalid_output'],
    ['unknown', 'invalid_output'],
    ['line', 'too_much_output'],
    ['flood', 'too_much_output'],
    ['error', 'failed'],
  ])('ends the turn and the program for %s', async (deed, code) => {
    const stand = await createStand({ reaper, protocol: 'jsonl' });
    await stand.say(deed);
    const events = await stand.idle();
    expect(ofType(events, 'session.error').map(({ error }) => (error as any).code)).toEqual([code]);
    expect(events.slice(-3)).toMatchObject([
      { type: 'span.model_request_end', is_error: true },
      { type: 'session.error', error: { retry_status: { type: 'exhausted' } } },
      { type: 'session.status_idle', stop_reason: { type: 'retries_exhausted' } },
    ]);
    expect(await stand.processes()).toBe(0);
  });

  it('has its stderr in the log, in lines and of bounded length', async () => {
    const stand = await createStand({ reaper, protocol: 'jsonl' });
    await stand.say('noise');
    const events = await stand.idle();
    expect(said(ofType(events, 'agent.message')[0])).toBe('Quiet now.');
    const lines = await eventually(() => {
      const found = stand.logged.filter(({ message }) => message === 'harness');
      return String(found.at(-1)?.fields['line']).includes('left out') && found;
    });
    expect(lines).toHaveLength(1_001);
    expect(lines.every(({ fields }) => String(fields['line']).length <= 2_000)).toBe(true);
  });
});
