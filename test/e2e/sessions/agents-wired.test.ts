import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: [{ name: 'mock', type: 'mock' }],
    models: [{ name: 'mock/echo', routes: [{ provider: 'mock' }] }],
  });
});
afterAll(() => gateway.stop());

it('an Agent is published as a Service, called, and answers in its Session', async () => {
  const agent = await gateway.call('POST', '/v1/agents', {
    body: { name: 'helper', model: 'mock/echo', system: 'Be brief.' },
  });
  expect(agent.status, JSON.stringify(agent.body)).toBe(201);
  const service = await gateway.call('POST', '/v1/endpoints', {
    body: { name: 'help', agent_id: agent.body.id, protocols: ['rest'] },
  });
  expect(service.status, JSON.stringify(service.body)).toBe(201);
  const run = await gateway.call('POST', `/v1/endpoints/${service.body.id}/run`, {
    body: { input: 'hello' },
  });
  expect(run.status, JSON.stringify(run.body)).toBe(202);
  const path = `/v1/sessions/${run.body.session_id}`;
  const events = await eventually(async () => {
    const { body } = await gateway.call('GET', `${path}/events`);
    return body.data?.at(-1)?.type === 'session.status_idle' ? body.data : undefined;
  });
  expect(events.map(({ type }: { type: string }) => type)).toEqual([
    'user.message',
    'session.status_running',
    'span.model_request_start',
    'agent.message',
    'span.model_request_end',
    'session.status_idle',
  ]);
  expect(events[3].content).toEqual([{ type: 'text', text: 'You said: hello' }]);
  expect((await gateway.call('GET', path)).body).toMatchObject({
    status: 'idle',
    entry_point: 'service',
    endpoint_id: service.body.id,
  });
});
