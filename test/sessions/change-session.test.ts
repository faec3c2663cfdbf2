import { describe, expect, it } from 'vitest';
import type { Sessions } from '../../src/sessions/sessions.ts';
import { eventually } from '../support/gateway.ts';
import { AGENT, createRig, historyOf, newSession, ORG, pending, say } from './support.ts';

const TOOL = {
  type: 'custom',
  name: 'weigh',
  description: 'Weighs.',
  input_schema: { type: 'object', properties: {} },
};

/** A Session that waits for its first message. */
async function setUp() {
  const { sessions } = createRig();
  const { session } = await sessions.create(
    newSession({ title: 'first', metadata: { a: '1', b: '2' } }),
  );
  return { sessions, id: session.id };
}

/** The last event of its log. */
async function lastOf(sessions: Sessions, id: string): Promise<Record<string, unknown>> {
  const { event } = (await historyOf(sessions, id)).at(-1) ?? expect.fail('the log is empty');
  return event;
}

const ofChange = (members: object): Record<string, unknown> => ({
  type: 'session.updated',
  id: expect.any(String),
  processed_at: expect.any(String),
  ...members,
});

describe('a change of a Session', () => {
  it('is told in its log with what changed alone', async () => {
    const { sessions, id } = await setUp();
    const changed = await sessions.update(ORG, id, { title: 'second', metadata: { a: '1' } });
    expect(changed).toMatchObject({ title: 'second', metadata: { a: '1', b: '2' } });
    expect(await lastOf(sessions, id)).toEqual(ofChange({ title: 'second' }));
  });

  it('adds to its metadata, and takes away what is null', async () => {
    const { sessions, id } = await setUp();
    const metadata = { a: null, b: '3', c: '4' };
    const changed = await sessions.update(ORG, id, { metadata });
    expect(changed).toMatchObject({ title: 'first', metadata: { b: '3', c: '4' } });
    const left = { b: '3', c: '4' };
    expect(await lastOf(sessions, id)).toEqual(ofChange({ metadata: left }));
  });

  it('takes its title away with an empty one', async () => {
    const { sessions, id } = await setUp();
    expect((await sessions.update(ORG, id, { title: '' })).title).toBeNull();
    expect(await lastOf(sessions, id)).toEqual(ofChange({ title: null }));
  });

  it('that changes nothing leaves no event', async () => {
    const { sessions, id } = await setUp();
    const before = await historyOf(sessions, id);
    await sessions.update(ORG, id, {});
    await sessions.update(ORG, id, { title: 'first', metadata: { a: '1' }, agent: {} });
    await sessions.update(ORG, id, { agent: { tools: AGENT.tools } });
    expect(await historyOf(sessions, id)).toEqual(before);
  });

  it('gives its Agent other tools, and leaves the rest of it', async () => {
    const { sessions, id } = await setUp();
    const changed = await sessions.update(ORG, id, { agent: { tools: [TOOL] } });
    expect(changed.agent).toEqual({ ...AGENT, tools: [TOOL] });
    expect((await sessions.get(ORG, id)).agent).toEqual({ ...AGENT, tools: [TOOL] });
    const { agent } = await lastOf(sessions, id);
    expect(agent).toMatchObject({ id: 'agent_1', version: 2, tools: [TOOL] });
  });

  it('refuses tools that an Agent may not have', async () => {
    const { sessions, id } = await setUp();
    const twice = { tools: [TOOL, TOOL] };
    await expect(sessions.update(ORG, id, { agent: twice })).rejects.toMatchObject({
      status: expect.toSatisfy((status) => status === 400 || status === 422),
      param: expect.stringMatching(/^agent\./),
    });
    expect((await sessions.get(ORG, id)).agent).toEqual(AGENT);
  });

  it('leaves the Agent of one that runs', async () => {
    const { sessions } = createRig({
      runner: {
        async run(log, signal) {
          await log.append([], { status: 'running' });
          return pending.run(log, signal);
        },
      },
    });
    const { session } = await sessions.create(newSession({ events: [say('hello')] }));
    await eventually(async () => (await sessions.get(ORG, session.id)).status === 'running');
    await expect(
      sessions.update(ORG, session.id, { agent: { tools: [TOOL] } }),
    ).rejects.toMatchObject({ code: 'conflict', retry: false, message: /running/ });
    expect((await sessions.update(ORG, session.id, { title: 'still' })).title).toBe('still');
  });

  it('is none of another organization’s', async () => {
    const { sessions, id } = await setUp();
    const none = { code: 'not_found' };
    await expect(sessions.update('org_2', id, { title: 'mine' })).rejects.toMatchObject(none);
    await expect(sessions.archive('org_2', id)).rejects.toMatchObject(none);
    await expect(sessions.terminate('org_2', id, { reason: 'no' })).rejects.toMatchObject(none);
    const { title, archivedAt } = await sessions.get(ORG, id);
    expect({ title, archivedAt }).toEqual({ title: 'first', archivedAt: null });
  });
});

describe('the archival of a Session', () => {
  it('keeps its first time', async () => {
    const { sessions, id } = await setUp();
    const { archivedAt } = await sessions.archive(ORG, id);
    expect(Date.parse(archivedAt ?? '')).toBeGreaterThan(0);
    expect((await sessions.archive(ORG, id)).archivedAt).toBe(archivedAt);
    expect((await sessions.get(ORG, id)).archivedAt).toBe(archivedAt);
  });
});
