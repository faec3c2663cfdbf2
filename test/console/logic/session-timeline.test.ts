import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../../src/console/api/views.ts';
import { toTimeline, waitingTools } from '../../../src/console/logic/session-timeline.ts';

let second = 0;
const event = (type: string, rest: object = {}): SessionEvent => {
  second++;
  const at = new Date(Date.UTC(2026, 10, 23) + second * 1_000).toISOString();
  return { id: `evt_${second}`, type, processed_at: at, ...rest };
};
const said = (text: string) => event('user.message', { content: [{ type: 'text', text }] });
const blocksOf = (...events: SessionEvent[]) => toTimeline(events).flatMap(({ blocks }) => blocks);

describe('the turns of a Session', () => {
  it('begin with each message, and know what they took', () => {
    const usage = { input_tokens: 3, output_tokens: 2 };
    const end = event('session.status_idle', { stop_reason: { type: 'end_turn' } });
    const turns = toTimeline([
      said('a'),
      event('span.model_request_end', { model_usage: usage }),
      event('span.model_request_end', { model_usage: { output_tokens: 1 } }),
      event('span.model_request_end'),
      end,
      said('b'),
    ]);
    expect(turns).toMatchObject([
      { modelRequests: 3, inputTokens: 3, outputTokens: 3, endedAt: end.processed_at },
      { modelRequests: 0, inputTokens: 0, outputTokens: 0, endedAt: undefined },
    ]);
  });

  it('hold what comes before the first message', () => {
    const system = event('system.message', { content: 'You are a clerk.' });
    expect(toTimeline([system])).toMatchObject([
      { id: system.id, at: system.processed_at, blocks: [{ kind: 'system' }] },
    ]);
    expect(toTimeline([event('span.model_request_end'), event('session.status_idle')])).toEqual([]);
  });

  it('go on while their client is asked, and tell why they stopped else', () => {
    const rest = (type: string) => event('session.status_idle', { stop_reason: { type } });
    const [asking] = toTimeline([said('a'), rest('requires_action')]);
    expect(asking).toMatchObject({ endedAt: undefined });
    expect(asking?.blocks).toHaveLength(1);
    const [stopped] = toTimeline([said('a'), rest('retries_exhausted')]);
    expect(stopped?.endedAt).toBeDefined();
    expect(stopped?.blocks[1]).toMatchObject({ tone: 'warn', text: 'stopped: retries exhausted' });
    const [plain] = toTimeline([said('a'), event('session.status_idle')]);
    expect(plain?.endedAt).toBeDefined();
    expect(plain?.blocks).toHaveLength(1);
  });
});

describe('the text of a message', () => {
  it.each([
    [{ content: 'whole' }, 'whole'],
    [{ content: [{ type: 'text', text: 'a' }, { type: 'image' }, {}] }, 'a\n[image]\n[part]'],
    [{ text: 'thought' }, 'thought'],
    [{ content: [] }, ''],
    [{}, ''],
  ])('of %j is %j', (rest, text) => {
    expect(blocksOf(event('agent.message', rest))).toMatchObject([{ kind: 'agent', text }]);
  });

  it('may be a thought', () => {
    expect(blocksOf(event('agent.thinking', { text: 'hm' }))).toMatchObject([
      { kind: 'thinking', text: 'hm' },
    ]);
  });
});

describe('a call of a tool', () => {
  const call = (type: string, rest: object = {}) =>
    event(`agent.${type}`, { name: 'find', input: { a: 1 }, ...rest });

  it.each([
    [undefined, 'running'],
    ['allow', 'running'],
    ['ask', 'waiting'],
    ['deny', 'denied'],
  ])('with permission %s is %s', (evaluated_permission, state) => {
    expect(blocksOf(call('tool_use', { evaluated_permission }))).toMatchObject([
      { kind: 'tool', name: 'find', input: { a: 1 }, state, isCustom: false },
    ]);
  });

  it.each([
    ['tool_use', 'agent.tool_result', 'tool_use_id'],
    ['mcp_tool_use', 'agent.mcp_tool_result', 'mcp_tool_use_id'],
    ['custom_tool_use', 'user.custom_tool_result', 'custom_tool_use_id'],
  ])('%s is answered by %s', (type, answer, member) => {
    const use = call(type);
    const result = event(answer, { [member]: use.id, content: 'found' });
    expect(blocksOf(use, result)).toMatchObject([
      { state: 'done', result: 'found', ms: 1_000, isCustom: type === 'custom_tool_use' },
    ]);
    expect(blocksOf(use, { ...result, is_error: true })).toMatchObject([{ state: 'failed' }]);
  });

  it('stays as it is with the answer to another', () => {
    const use = call('tool_use');
    const results = ['evt_0', undefined].map((id) =>
      event('agent.tool_result', { tool_use_id: id }),
    );
    expect(blocksOf(use, ...results)).toMatchObject([{ state: 'running', result: undefined }]);
  });

  it('waits for a word, and is allowed or denied by it', () => {
    const use = call('tool_use', { evaluated_permission: 'ask' });
    const word = (result: string) =>
      event('user.tool_confirmation', { tool_use_id: use.id, result });
    const waiting = toTimeline([said('a'), use, call('tool_use')]);
    expect(waitingTools(waiting).map(({ id }) => id)).toEqual([use.id]);
    expect(blocksOf(use, word('allow'))).toMatchObject([{ state: 'running' }]);
    expect(blocksOf(use, word('deny'))).toMatchObject([{ state: 'denied' }]);
    const custom = call('custom_tool_use');
    const waits = (id: string, answered_by = 'user.custom_tool_result') =>
      ({ since: '', message: '', calls: [{ id, answered_by, name: 'x', server: null }] }) as never;
    const asked = toTimeline([said('a'), custom], waits(custom.id));
    expect(waitingTools(asked)).toMatchObject([{ resultType: 'user.custom_tool_result' }]);
    const answered = event('user.custom_tool_result', { custom_tool_use_id: custom.id });
    expect(waitingTools(toTimeline([custom, answered], waits(custom.id)))).toEqual([]);
    const own = toTimeline([use, word('allow')], waits(use.id, 'user.tool_result'));
    expect(waitingTools(own)).toMatchObject([{ resultType: 'user.tool_result' }]);
    expect(waitingTools(toTimeline([use], waits('other')))).toMatchObject([
      { resultType: undefined },
    ]);
    expect(() => toTimeline([event('user.tool_confirmation', { tool_use_id: 'x' })])).not.toThrow();
  });
});

describe('what happens between messages', () => {
  it.each([
    ['user.interrupt', {}, 'warn', 'interrupted'],
    ['session.status_terminated', {}, 'dim', 'ended'],
    ['session.error', { error: { message: 'lost' } }, 'bad', 'lost'],
    ['session.error', { message: 'lost' }, 'bad', 'lost'],
    ['session.error', {}, 'bad', 'an error'],
  ])('%s %j is told', (type, rest, ...words) => {
    const [tone, text] = words;
    expect(blocksOf(event(type, rest))).toMatchObject([{ kind: 'mark', tone, text }]);
  });

  it('is left out where nobody needs to know', () => {
    expect(blocksOf(said('a'), event('session.status_running'), event('of.later'))).toHaveLength(1);
  });
});
