import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { historyOf, pending } from '../../sessions/support.ts';
import { eventually } from '../../support/gateway.ts';
import { openStream } from '../../support/event-stream.ts';
import type { OpenStream } from '../../support/event-stream.ts';
import { FORMS, MODERN, modern, modernCall, modernHeaders, TASKS } from './modern-calls.ts';
import { asking, scripted } from './scripted-runner.ts';
import { SERVICE, serveServices } from './serve-services.ts';
import type { ServiceServer } from './serve-services.ts';

const EXTENSIONS = { extensions: { [TASKS]: {} } };
const KEY = 'user.tool_confirmation/sevt_use';

async function begin(server: ServiceServer, input: string, capabilities: object = EXTENSIONS) {
  const params = modernCall('send_message', { input, wait: true });
  const { result } = (await modern(server, 'tools/call', params, { capabilities })).body;
  expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null });
  return result.taskId as string;
}

const look = async (server: ServiceServer, taskId: string, capabilities: object = EXTENSIONS) =>
  (await modern(server, 'tasks/get', { taskId }, { capabilities })).body.result;

const reach = (
  server: ServiceServer,
  [taskId, status]: readonly [id: string, status: string],
  capabilities?: object,
) =>
  eventually(async () => {
    const task = await look(server, taskId, capabilities);
    return task.status === status && task;
  });

const wordsOf = ({ result }: any): string =>
  result.structuredContent.events
    .filter(({ type }: any) => type === 'agent.message')
    .map(({ content }: any) => content[0].text)
    .join();

describe('a call that waits, of a client that knows tasks', () => {
  it(verifies('mcp.modern.tasks', 'is a task on every process, with the same result'), async () => {
    const go: (() => void)[] = [];
    const runner = scripted(async ({ say }) => {
      await new Promise<void>((resolve) => go.push(resolve));
      await say('done');
    });
    const server = await serveServices({ runner });
    const other = await serveServices({ runner, store: server.store });
    const taskId = await begin(server, 'x');
    await eventually(() => go.length > 0);
    const first = await look(other, taskId);
    expect(first).toMatchObject({ resultType: 'complete', taskId, status: 'working' });
    expect(first).not.toHaveProperty('result');
    expect(first.pollIntervalMs).toBeGreaterThan(0);
    go[0]?.();
    const last = await reach(other, [taskId, 'completed']);
    expect(last.result.structuredContent).toMatchObject({ status: 'idle' });
    expect(last.createdAt <= last.lastUpdatedAt).toBe(true);
    expect(wordsOf(last)).toBe('done');
    expect(await look(server, taskId)).toEqual(last);
  });

  it(verifies('mcp.modern.tasks', 'survives the process that began it'), async () => {
    const server = await serveServices({ runner: pending });
    const taskId = await begin(server, 'x');
    await server.jobs.close();
    const other = await serveServices({ store: server.store });
    expect(wordsOf(await reach(other, [taskId, 'completed']))).toBe('x');
  });

  it(
    verifies('mcp.modern.input-required', 'asks in the task, and takes one of many answers'),
    async () => {
      const capabilities = { ...EXTENSIONS, ...FORMS };
      const server = await serveServices({ runner: asking });
      const other = await serveServices({ runner: asking, store: server.store });
      const taskId = await begin(server, 'ask', capabilities);
      const asked = await reach(server, [taskId, 'input_required'], capabilities);
      expect(Object.keys(asked.inputRequests)).toEqual([KEY]);
      const update = (to: ServiceServer, decision: string) => {
        const answer = { action: 'accept', content: { decision } };
        const inputResponses = { [KEY]: answer, 'user.tool_confirmation/sevt_0': answer };
        return modern(to, 'tasks/update', { taskId, inputResponses }, { capabilities });
      };
      const updates = [update(server, 'allow'), update(other, 'allow'), update(other, 'allow')];
      for (const { body } of await Promise.all(updates))
        expect(body.result.resultType).toBe('complete');
      expect(wordsOf(await reach(other, [taskId, 'completed'], capabilities))).toBe('allow');
      const [session = ''] = taskId.split('.');
      const types = (await historyOf(server.sessions, session)).map(({ event }) => event.type);
      expect(types.filter((type) => type === 'user.tool_confirmation')).toHaveLength(1);
      // Late: the call no longer waits.
      expect((await update(server, 'deny')).body.result.resultType).toBe('complete');
      expect(await look(server, taskId, capabilities)).toMatchObject({ status: 'completed' });
    },
  );

  it('is over where nobody can be asked, and stays so', async () => {
    const server = await serveServices({ runner: asking });
    const taskId = await begin(server, 'ask');
    const { result } = await reach(server, [taskId, 'completed']);
    expect(result.structuredContent.stop_reason).toMatchObject({ type: 'requires_action' });
    const answers = { [KEY]: { action: 'accept', content: { decision: 'allow' } } };
    const capabilities = { ...EXTENSIONS, ...FORMS };
    await modern(server, 'tasks/update', { taskId, inputResponses: answers }, { capabilities });
    await reach(server, [taskId, 'completed'], capabilities);
    expect((await look(server, taskId)).result).toEqual(result);
  });

  it('is cancelled by an interrupt of its turn', async () => {
    const runner = scripted(({ interrupted }) => interrupted());
    const server = await serveServices({ runner });
    const taskId = await begin(server, 'x');
    await eventually(async () => (await look(server, taskId)).statusMessage.includes('at work'));
    const { body } = await modern(server, 'tasks/cancel', { taskId }, { capabilities: EXTENSIONS });
    expect(body.result).toMatchObject({ resultType: 'complete' });
    expect(await reach(server, [taskId, 'cancelled'])).not.toHaveProperty('result');
  });

  it('is refused to clients without tasks, other organizations and other Services', async () => {
    const server = await serveServices();
    server.services.set('ep_2', { ...SERVICE, id: 'ep_2' });
    const taskId = await begin(server, 'x');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const params = { taskId, inputResponses: {} };
      const plain = await modern(server, method, params);
      expect(plain).toMatchObject({
        status: 400,
        body: { id: 1, error: { code: -32021, data: { requiredCapabilities: EXTENSIONS } } },
      });
      const capabilities = EXTENSIONS;
      for (const [named, who] of [
        ['x', {}],
        [`${taskId}0`, {}],
        [taskId, { key: 'org_1_services', service: 'ep_2' }],
      ] as const) {
        const given = { ...params, taskId: named };
        const answer = await modern(server, method, given, { capabilities, ...who });
        expect(answer.body.error).toMatchObject({ code: -32602 });
      }
    }
  });
});

/** The stream of `subscriptions/listen`. */
async function listen(
  server: ServiceServer,
  notifications: object,
  capabilities: object = EXTENSIONS,
) {
  const stream = await openStream(`${server.url}/v1/endpoints/ep_1/mcp`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer org_1',
      accept: 'application/json, text/event-stream',
      ...modernHeaders('subscriptions/listen'),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 'sub',
      method: 'subscriptions/listen',
      params: {
        notifications,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': MODERN,
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    }),
  });
  onTestFinished(() => stream.leave());
  return stream;
}

const messagesOf = ({ events }: OpenStream) => events.map(({ message }) => message);
const SUBSCRIBED = { _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub' } };

describe('subscriptions/listen of a Service', () => {
  it(verifies('mcp.modern.tasks', 'tells each change of a task, and its result'), async () => {
    const capabilities = { ...EXTENSIONS, ...FORMS };
    const server = await serveServices({ runner: asking });
    const other = await serveServices({ runner: asking, store: server.store });
    const taskId = await begin(server, 'ask', capabilities);
    await reach(server, [taskId, 'input_required'], capabilities);
    const wanted = { taskIds: [taskId, 'sess_0.sevt_0'], toolsListChanged: true };
    const stream = await listen(other, wanted, capabilities);
    await eventually(() => stream.events.length > 1);
    const inputResponses = { [KEY]: { action: 'decline' } };
    await modern(server, 'tasks/update', { taskId, inputResponses }, { capabilities });
    await eventually(() => messagesOf(stream).at(-1).params?.status === 'completed');
    expect(messagesOf(stream)[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId] }, ...SUBSCRIBED },
    });
    const told = messagesOf(stream).slice(1);
    for (const message of told)
      expect(message).toMatchObject({ method: 'notifications/tasks', params: SUBSCRIBED });
    // Between them it is at work for a moment, which no follower must see.
    const states = told.map(({ params }) => params.status).filter((one) => one !== 'working');
    expect(states).toEqual(['input_required', 'completed']);
    expect(wordsOf(told.at(-1).params)).toBe('deny: The user declined.');
    expect(other.places.taken).toBe(0);
  });

  it('ends with an answer when the gateway stops, and when its key is refused', async () => {
    const server = await serveServices();
    for (const end of [() => server.revoked.add('org_1'), () => server.standing.shutDown()]) {
      const stream = await listen(server, {});
      await eventually(() => stream.events.length > 0);
      end();
      await stream.ended;
      expect(messagesOf(stream).at(-1)).toMatchObject({
        id: 'sub',
        result: { resultType: 'complete', ...SUBSCRIBED },
      });
      server.revoked.clear();
    }
  });

  it('is refused for tasks to a client without them, and to one that takes no stream', async () => {
    const server = await serveServices();
    const tasks = { notifications: { taskIds: ['x'] } };
    const headers = { accept: 'application/json' };
    expect(await modern(server, 'subscriptions/listen', tasks)).toMatchObject({
      status: 400,
      body: { error: { code: -32021 } },
    });
    expect(
      await modern(server, 'subscriptions/listen', { notifications: {} }, { headers }),
    ).toMatchObject({ status: 406 });
  });
});
