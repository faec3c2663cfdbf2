import { describe, expect, it } from 'vitest';
import { readCreateBody, readSendBody, readUpdateBody } from '../../src/sessions/session-bodies.ts';

const referenceOf = (body: object) => readCreateBody(body).reference;
const refused = (param: string) => expect.objectContaining({ code: 'invalid_request', param });

describe('the Agent of a new Session', () => {
  it.each([
    [{ agent: 'agent_1' }, { agentId: 'agent_1', version: undefined }],
    [
      { agent: 'agent_1', agent_version: 3 },
      { agentId: 'agent_1', version: 3 },
    ],
    [
      { agent_id: 'agent_1', agent_version: 1 },
      { agentId: 'agent_1', version: 1 },
    ],
    [
      { agent_id: 'agent_1', agent_version: '12' },
      { agentId: 'agent_1', version: 12 },
    ],
    [{ agent: { type: 'agent', id: 'a', version: 1 } }, { agentId: 'a', version: 1 }],
    [
      { agent: { type: 'agent', id: 'a', version: 2 }, agent_version: 3 },
      { agentId: 'a', version: 2 },
    ],
    [
      { agent: { type: 'agent_with_overrides', id: 'a', model: 'm', system: null } },
      { agentId: 'a', version: undefined, overrides: { model: 'm', system: null } },
    ],
    [
      { agent: { type: 'agent_with_overrides', id: 'a', version: 4 } },
      { agentId: 'a', version: 4, overrides: {} },
    ],
  ])('%j is %j', (body, reference) => expect(referenceOf(body)).toEqual(reference));

  it.each([
    [{}, 'agent'],
    [{ agent: 'a', agent_id: 'a' }, 'agent'],
    [{ agent: '' }, 'agent'],
    [{ agent: { type: 'other', id: 'a' } }, 'agent'],
    [{ agent_id: 'x'.repeat(257) }, 'agent_id'],
    [{ agent_id: 'a', agent_version: 0 }, 'agent_version'],
    [{ agent_id: 'a', agent_version: 1.5 }, 'agent_version'],
    [{ agent_id: 'a', agent_version: '-1' }, 'agent_version'],
  ])('%j is refused', (body, param) => {
    expect(() => readCreateBody(body)).toThrow(refused(param));
  });
});

describe('the other members of a new Session', () => {
  const read = (rest: object) => readCreateBody({ agent: 'a', ...rest }).input;

  it('are taken within their bounds', () => {
    const most = { title: 'x'.repeat(1_000), vault_ids: Array(100).fill('v') };
    const events = Array.from({ length: 50 }, () => ({ type: 'user.message' }));
    const resources = Array.from({ length: 100 }, () => ({ type: 'file', more: 1 }));
    expect(read({ ...most, initial_events: events, resources })).toMatchObject({
      title: most.title,
      vaultIds: most.vault_ids,
      events,
      resources,
    });
    expect(read({ title: null, environment_id: 'env_1' })).toMatchObject({
      title: null,
      environmentId: 'env_1',
    });
  });

  it.each([
    ['title', 'x'.repeat(1_001)],
    ['vault_ids', Array(101).fill('v')],
    ['initial_events', Array.from({ length: 51 }, () => ({}))],
    ['resources', Array.from({ length: 101 }, () => ({ type: 'file' }))],
    ['environment_id', ''],
  ])('are refused beyond: %s', (member, value) => {
    expect(() => read({ [member]: value })).toThrow(refused(member));
  });
});

describe('changes of a Session', () => {
  it('are read, nothing being as good as nothing said', () => {
    expect(readUpdateBody({ title: 't', metadata: { a: null } })).toMatchObject({
      title: 't',
      metadata: { a: null },
    });
    expect(readUpdateBody({ metadata: null, agent: null })).toEqual({
      title: undefined,
      metadata: undefined,
      agent: undefined,
      budget: undefined,
    });
  });

  it('are refused for what is chosen once', () => {
    expect(() => readUpdateBody({ vault_ids: ['v'] })).toThrow(
      'vaults are chosen when a session is created',
    );
  });
});

describe('events that are sent', () => {
  it('are at least one', () => {
    expect(readSendBody({ events: [1] })).toEqual([1]);
    expect(() => readSendBody({ events: [] })).toThrow(refused('events'));
    expect(() => readSendBody({})).toThrow(refused('events'));
  });
});
