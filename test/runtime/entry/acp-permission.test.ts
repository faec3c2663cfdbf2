import { describe, expect, it } from 'vitest';
import { historyOf, idle, ORG } from '../../sessions/support.ts';
import { ask as request, eventually } from '../../support/gateway.ts';
import { asking, scripted } from './scripted-runner.ts';
import { serveServices } from './serve-services.ts';
import type { ServiceServer } from './serve-services.ts';

const ASKED = { 'x-gateway-client-methods': 'fs/read_text_file, session/request_permission' };

const rpc = (method: string, params: object, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

async function open(server: ServiceServer): Promise<string> {
  const { body } = await server.call('POST', 'acp', { body: rpc('session/new', {}) });
  return body.result.sessionId;
}

/** The lines of a prompt, as they are when it is answered. */
async function prompt(
  server: ServiceServer,
  sessionId: string,
  { text, headers = {} }: { text: string; headers?: Record<string, string> },
) {
  const body = rpc('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }, 'p');
  const answer = await server.call('POST', 'acp', { headers, body });
  const lines = typeof answer.body === 'string' ? answer.body.trimEnd().split('\n') : [];
  return lines.length > 0 ? lines.map((line) => JSON.parse(line)) : [answer.body];
}

const isWaiting = (server: ServiceServer, id: string) =>
  eventually(async () => {
    const types = (await historyOf(server.sessions, id)).map(({ event }) => event.type);
    return types.at(-1) === 'session.status_idle';
  });

const wordsOf = (lines: any[]): string =>
  lines.map(({ params }) => params?.update?.content?.text ?? '').join('');

describe('a caller whose client can be asked', () => {
  it.each([
    [{ result: { outcome: { outcome: 'selected', optionId: 'allow' } } }, 'allow'],
    [{ result: { outcome: { outcome: 'selected', optionId: 'reject' } } }, 'deny'],
    [{ result: { outcome: { outcome: 'selected', optionId: 'toString' } } }, 'deny'],
    [{ result: {} }, 'deny: The client could not ask its user.'],
    [{ error: { code: -32601, message: 'no' } }, 'deny: The client could not ask its user.'],
  ])('answers with a message of its own: %j', async (reply, said) => {
    const server = await serveServices({ runner: asking });
    const sessionId = await open(server);
    const prompted = prompt(server, sessionId, { text: 'ask', headers: ASKED });
    await isWaiting(server, sessionId);
    const body = { jsonrpc: '2.0', id: `${sessionId}/sevt_use`, ...reply };
    expect(await server.call('POST', 'acp', { body })).toMatchObject({ status: 202, body: '' });
    const lines = await prompted;
    expect(lines.filter(({ method }) => method === 'session/request_permission')).toEqual([
      rpc(
        'session/request_permission',
        {
          sessionId,
          toolCall: {
            toolCallId: 'sevt_use',
            title: 'rm',
            kind: 'other',
            status: 'pending',
            rawInput: { path: '/' },
          },
          options: [
            { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
            { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
          ],
        },
        `${sessionId}/sevt_use`,
      ),
    ]);
    expect(wordsOf(lines)).toBe(said);
    expect(lines.at(-1)).toMatchObject({ id: 'p', result: { stopReason: 'end_turn' } });
  });

  it('changes nothing with an answer that nobody waits for, or of another organization', async () => {
    const server = await serveServices({ runner: asking });
    const sessionId = await open(server);
    const prompted = prompt(server, sessionId, { text: 'ask', headers: ASKED });
    await isWaiting(server, sessionId);
    const before = (await server.sessions.get(ORG, sessionId)).head;
    const result = { outcome: { outcome: 'selected', optionId: 'allow' } };
    for (const id of [7, null, 'x', `${sessionId}/sevt_0`, 'sess_0/sevt_use', '/', 'x'.repeat(999)])
      expect(
        (await server.call('POST', 'acp', { body: { jsonrpc: '2.0', id, result } })).status,
      ).toBe(202);
    server.services.set('ep_2', { ...server.services.get('ep_1')!, organization: 'org_2' });
    const own = { jsonrpc: '2.0', id: `${sessionId}/sevt_use`, result };
    const url = `${server.url}/v1/endpoints/ep_2/acp`;
    expect((await request(url, { method: 'POST', key: 'org_2', body: own })).status).toBe(202);
    expect((await server.sessions.get(ORG, sessionId)).head).toBe(before);

    await server.call('POST', 'acp', { body: own });
    expect((await prompted).at(-1)).toMatchObject({ result: { stopReason: 'end_turn' } });
    const after = (await server.sessions.get(ORG, sessionId)).head;
    await server.call('POST', 'acp', { body: own });
    const cancelled = { ...own, result: { outcome: { outcome: 'cancelled' } } };
    await server.call('POST', 'acp', { body: cancelled });
    expect((await server.sessions.get(ORG, sessionId)).head).toBe(after);
    expect(server.bugs).toEqual([]);
  });

  it('is not asked for what only another client can give', async () => {
    const custom = { type: 'agent.custom_tool_use' as const, id: 'sevt_use', name: 'x', input: {} };
    const runner = scripted(({ add }) =>
      add(custom, idle('requires_action', { event_ids: ['sevt_use'] })),
    );
    const server = await serveServices({ runner });
    const lines = await prompt(server, await open(server), { text: 'go', headers: ASKED });
    expect(lines.at(-1).result._meta['gateway/stop_reason'].type).toBe('requires_action');
    expect(lines.filter(({ id }) => id !== undefined)).toHaveLength(1);
  });
});

describe('a prompt behind one that comes to wait for its client', () => {
  it.each([
    ['a caller that can be asked', ASKED],
    ['any other', {}],
  ])('is answered with an error for %s', async (_whose, headers) => {
    let go: (() => void) | undefined;
    const runner = scripted(async ({ add, text }) => {
      if (text !== 'first') return;
      await new Promise<void>((resolve) => (go = resolve));
      await add(
        { type: 'agent.mcp_tool_use', id: 'sevt_use', name: 'rm', evaluated_permission: 'ask' },
        idle('requires_action', { event_ids: ['sevt_use'] }),
      );
    });
    const server = await serveServices({ runner });
    const sessionId = await open(server);
    const first = prompt(server, sessionId, { text: 'first' });
    await eventually(() => go !== undefined);
    const second = prompt(server, sessionId, { text: 'second', headers });
    await eventually(async () => {
      const all = await historyOf(server.sessions, sessionId);
      return all.filter(({ event }) => event.type === 'user.message').length === 2;
    });
    go?.();
    expect((await first).at(-1).result.stopReason).toBe('end_turn');
    expect((await second).at(-1)).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('sevt_use') },
    });
  });
});
