import { expect, describe, it, vi } from 'vitest';
import { sessionsPage, toShownSession } from '../../src/sessions/list-pages.ts';
import type { NewEvent } from '../../src/sessions/log/session-event.ts';
import type { TurnRunner } from '../../src/sessions/sessions.ts';
import { verifies } from '../requirements.ts';
import { createRig, idle, newSession, ORG, say } from './support.ts';

const INPUT = { order: 'A-17' };
const use = (type: NewEvent['type'], name: string, rest: object = {}): NewEvent => ({
  type,
  name,
  input: INPUT,
  ...rest,
});
const ASKED = use('agent.mcp_tool_use', 'lookup', {
  mcp_server_name: 'crm',
  evaluated_permission: 'ask',
});
const CUSTOM = use('agent.custom_tool_use', 'quote');
const OWN = use('agent.tool_use', 'bash', { evaluated_permission: 'ask' });

/** A Session whose turn has called these tools and waits for all of them. */
async function waiting(calls: readonly NewEvent[]) {
  const runner: TurnRunner = {
    async run(log) {
      const seen: NewEvent[] = [];
      for await (const { event } of log.events()) seen.push(event);
      if (seen.some(({ type }) => type === 'session.status_idle')) return;
      await log.append([], { status: 'running' });
      const placed = await log.append(calls);
      const event_ids = placed.map(({ event }) => event.id);
      await log.append([idle('requires_action', { event_ids })], { status: 'idle', handled: 1 });
    },
  };
  const rig = createRig({ runner });
  const { session } = await rig.sessions.create(newSession({ events: [say('hello')] }));
  const { id } = session;
  const look = async () => rig.sessions.waitingOf(await rig.sessions.get(ORG, id));
  await vi.waitFor(async () => expect((await look())?.calls).toHaveLength(calls.length));
  const send = (...events: object[]) => rig.sessions.send(ORG, id, events);
  return { ...rig, id, look, send };
}

describe('what a Session waits for', () => {
  it(
    verifies('sessions.waiting', 'is every open call, with its input, its answer and since when'),
    async () => {
      const { look, id, sessions } = await waiting([ASKED, CUSTOM, OWN]);
      const found = await look();
      const ids = found?.calls.map((call) => call.id) ?? [];
      expect(found).toEqual({
        since: (await sessions.get(ORG, id)).updatedAt,
        message: `the session waits for an answer to the call lookup (${ids[0]}), the call quote (${ids[1]}), the call bash (${ids[2]})`,
        calls: [
          { answered_by: 'user.tool_confirmation', name: 'lookup', server: 'crm' },
          { answered_by: 'user.custom_tool_result', name: 'quote', server: null },
          { answered_by: 'user.tool_confirmation', name: 'bash', server: null },
        ].map((call, at) => ({ id: ids[at], input: INPUT, ...call })),
      });
      await expect(
        sessions.send(ORG, id, { events: [say('more')], awaited: null }),
      ).rejects.toThrow(`${found?.message}; send it to POST /v1/sessions/${id}/events`);
    },
  );

  it(
    verifies('sessions.waiting', 'is less with each answer, since the same time, and then nothing'),
    async () => {
      const { look, send } = await waiting([ASKED, CUSTOM]);
      const before = await look();
      const [asked, custom] = before?.calls ?? [];
      await send({ type: 'user.tool_confirmation', tool_use_id: asked?.id, result: 'allow' });
      expect(await look()).toMatchObject({ since: before?.since, calls: [{ name: 'quote' }] });
      await send({ type: 'user.custom_tool_result', custom_tool_use_id: custom?.id });
      expect(await look()).toBeNull();
    },
  );

  it('is the result of a call that its client runs once that is allowed', async () => {
    const allowed = { type: 'user.tool_confirmation', result: 'allow' } as const;
    const runner: TurnRunner = {
      async run(log) {
        const seen: NewEvent[] = [];
        for await (const { event } of log.events()) seen.push(event);
        const call = seen.find(({ type }) => type === 'agent.tool_use');
        if (log.session.status === 'idle') await log.append([], { status: 'running' });
        const id = call?.id ?? (await log.append([OWN]))[0]?.event.id;
        const rest = idle('requires_action', { event_ids: [id] });
        const handled = log.session.head;
        await log.append([rest], { status: 'idle', handled });
      },
    };
    const { sessions } = createRig({ runner });
    const { session } = await sessions.create(newSession({ events: [say('hello')] }));
    const look = async () => sessions.waitingOf(await sessions.get(ORG, session.id));
    const wants = (answered_by: string) =>
      vi.waitFor(async () => expect(await look()).toMatchObject({ calls: [{ answered_by }] }));
    await wants('user.tool_confirmation');
    const id = (await look())?.calls[0]?.id;
    await sessions.send(ORG, session.id, [{ ...allowed, tool_use_id: id }]);
    await wants('user.tool_result');
  });

  it('is nothing for an archived one, which takes no answer', async () => {
    const { look, sessions, id } = await waiting([ASKED]);
    await sessions.archive(ORG, id);
    expect(await look()).toBeNull();
  });

  it(
    verifies(
      'sessions.waiting',
      'is shown where it is asked for, without input to those who may not read it',
    ),
    async () => {
      const { sessions, id } = await waiting([ASKED]);
      const session = await sessions.get(ORG, id);
      const show = (query: string, seesContent = true): Promise<any> =>
        toShownSession(sessions, session, {
          query: new URLSearchParams(query),
          now: 0,
          seesContent,
        });
      expect(await show('')).not.toHaveProperty('waiting');
      expect((await show('include=waiting')).waiting.calls).toMatchObject([{ input: INPUT }]);
      const [call] = (await show('include[]=waiting', false)).waiting.calls;
      expect(call).toMatchObject({ name: 'lookup', server: 'crm' });
      expect(call).not.toHaveProperty('input');
      const query = new URLSearchParams('include=waiting');
      const page: any = await sessionsPage(sessions, { organization: ORG, query, now: 0 });
      const [listed] = page.data[0].waiting.calls;
      expect(listed).toMatchObject({ name: 'lookup', answered_by: 'user.tool_confirmation' });
      expect(listed).not.toHaveProperty('input');
      await expect(show('include=other')).rejects.toMatchObject({ code: 'invalid_request' });
    },
  );
});
