import { EventEmitter } from 'node:events';
import { createServer, request } from 'node:http';
import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployment } from '../../../src/resources/kinds/deployment.ts';
import { startChatReceiver } from '../../scheduler/notify/chat-receiver.ts';
import type { ChatReceiver } from '../../scheduler/notify/chat-receiver.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { runCli } from '../run-cli.ts';
import type { CliOptions } from '../run-cli.ts';

/** The model calls a tool of the client, which answers it or does not. */
const ASKS = {
  match: { text: 'look it up', turn: 1 },
  reply: { tool_calls: [{ name: 'look_up', arguments: { order: 'A-17' } }] },
};
const lookUp = {
  type: 'custom',
  name: 'look_up',
  description: 'Looks up.',
  input_schema: { type: 'object' },
};

let receiver: ChatReceiver;
let gateway: TestGateway;
beforeAll(async () => {
  receiver = await startChatReceiver();
  gateway = await startGateway({
    server: { notifications: { webhooks: { ours: { url: receiver.url, format: 'slack' } } } },
    providers: [{ name: 'acme', type: 'mock', mock: { rules: [ASKS] } }],
    models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
  });
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

/** Members of a run in the contract. */
const MEMBERS = [
  'agent',
  'created_at',
  'deployment_id',
  'error',
  'id',
  'session_id',
  'trigger_context',
  'type',
];

async function make(name: string, rest: object = {}): Promise<string> {
  const { status, body } = await gateway.call('POST', '/v1/deployments', {
    body: {
      name,
      runtime: { type: 'agent', model: 'acme/one' },
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }],
      schedule: { type: 'cron', expression: '0 7 * * 1-5', timezone: 'Europe/Berlin' },
      ...rest,
    },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}
const shown = async (id: string) => (await gateway.call('GET', `/v1/deployments/${id}`)).body;
const homeId = async (): Promise<string> =>
  (await gateway.call('GET', '/v1/account/key')).body.organization.id;
const runsOf = async (id: string): Promise<any[]> =>
  (await gateway.call('GET', `/v1/deployments/${id}/runs`)).body.data;

function run(argv: string[], options: CliOptions = {}, server = gateway.url) {
  const env = { GATEWAY_SERVER: server, GATEWAY_API_KEY: gateway.clientKey };
  return runCli([...argv, '--yes'], { ...options, env });
}

describe('Schedules on the command line', () => {
  it(
    verifies(
      'clock.jump.schedule-silence-told',
      'are named by doctor while they wait for instants that have run already',
    ),
    async () => {
      const id = await make('hasty');
      const [first, second] = (await shown(id)).schedule.upcoming_runs_at as string[];
      const doctor = async () => {
        const env = { GATEWAY_PORT: new URL(gateway.url).port };
        return (await runCli(['doctor', '--offline'], { cwd: gateway.directory, env })).stdout;
      };
      expect(await doctor()).not.toContain('hasty');
      // As a clock that was ahead leaves it.
      const target = { definition: deployment, idOrName: id, organization: await homeId() };
      const last_slot = Date.parse(first ?? '');
      await gateway.gateway!.repository.note(target, async () => ({ state: { last_slot } }));
      const said = await doctor();
      expect(said).toMatch(/^warn schedule hasty: silent until \S+: .*is in the future/m);
      expect(said).toContain(`silent until ${second}`);
      expect((await run(['deployments', 'delete', id])).code).toBe(0);
    },
  );

  it(verifies('cli.schedules', 'are paused, unpaused, archived and deleted by name'), async () => {
    const id = await make('daily');
    await make('daily-more');
    const list = await run(['deployments', 'list']);
    expect(list.stdout).toMatch(
      new RegExp(
        `^daily +active +0 7 \\* \\* 1-5 Europe/Berlin +\\S+ \\S+ 07:00 GMT\\S+ +${id}$`,
        'm',
      ),
    );
    const verbs = ['pause', 'unpause', 'pause', 'archive'];
    const states: string[] = [];
    for (const verb of verbs) {
      expect((await run(['schedules', verb, verb === 'archive' ? id : 'daily'])).code).toBe(0);
      states.push((await shown(id)).status);
    }
    expect(states).toEqual(['paused', 'active', 'paused', 'archived']);
    expect((await run(['deployments', 'list', '-q'])).stdout).toBe('daily-more\n');
    const all = await run(['deployments', 'list', '-q', '--archived']);
    expect(all.stdout.trim().split('\n').sort()).toEqual(['daily', 'daily-more']);
    expect((await run(['deployments', 'get', id, '-o', 'json'])).json().data.status).toBe(
      'archived',
    );
    expect((await run(['deployments', 'delete', id])).code).toBe(0);
    expect((await gateway.call('GET', `/v1/deployments/${id}`)).status).toBe(404);
  });

  it(verifies('cli.schedules', 'have their chat tried'), async () => {
    await make('announced', {
      notification_settings: { chat_webhook_url: `${receiver.url}/bot` },
    });
    expect((await run(['deployments', 'test-notification', 'announced'])).code).toBe(0);
    expect(receiver.received).toHaveLength(1);
    receiver.answer({ status: 200, body: 'no_service' });
    const refused = await run(['deployments', 'test-notification', 'announced']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('ours refused the message');
    await make('silent');
    expect((await run(['deployments', 'test-notification', 'silent'])).code).toBe(5);
  });

  it(verifies('cli.trigger', 'cli.runs', 'are triggered, and their runs shown'), async () => {
    const id = await make('by hand', { schedule: null });
    const waited = await run(['trigger', 'by hand', '--wait', '-o', 'json']);
    expect(waited.code).toBe(0);
    const { data } = waited.json();
    const outcome = { type: 'completed', reason: 'end_turn', message: null };
    const called = { deployment_name: 'by hand', outcome };
    expect((await runsOf(id)).map((one) => ({ ...one, ...called }))).toEqual([data]);
    const tailed = await run(['trigger', id, '--tail']);
    expect(tailed.code).toBe(0);
    expect(tailed.stdout).toContain('agent.message  You said: hello');
    const filters = ['--deployment', 'by hand', '--trigger', 'manual', '--status', 'succeeded'];
    const listed = await run(['runs', 'list', ...filters, '--from', '2020-01-01', '-o', 'json']);
    const all = await runsOf(id);
    expect(listed.json().data).toEqual(all.map((one) => ({ ...one, ...called })));
    const table = await run(['runs', 'list', ...filters]);
    expect(table.stdout).toMatch(/ by hand.* manual +completed +drun_\S+$/m);
    const quiet = await run(['runs', 'list', ...filters, '-q']);
    expect(quiet.stdout).toBe(all.map(({ id: one }) => `${one}\n`).join(''));
    const none = await run(['runs', 'list', '--deployment', id, '--status', 'failed']);
    expect(none.stdout).toBe('no runs\n');
    const one = await run(['runs', 'get', data.id, '-o', 'json']);
    expect(one.json().data).toEqual(data);
    expect((await run(['runs', 'get', 'drun_none'])).code).toBe(1);
  });

  it(
    verifies(
      'schedules.outcome',
      'fail where the Sessions of their runs fail, or wait for a person',
    ),
    async () => {
      const broken = await make('broken', { runtime: { type: 'agent', model: 'acme/none' } });
      const text = 'look it up';
      const asking = await make('asking', {
        runtime: { type: 'agent', model: 'acme/one', tools: [lookUp] },
        initial_events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
      });
      const failed = await run(['trigger', 'broken', '--wait']);
      expect(failed.code).toBe(7);
      expect(failed.stdout).toMatch(/^outcome +failed: retries_exhausted: .*acme\/none/m);
      expect(failed.stderr).toContain('gateway trigger broken');
      const waits = await run(['trigger', 'asking', '--tail']);
      expect([waits.code, waits.stderr]).toEqual([7, expect.stringContaining('look_up')]);
      const ids = (await run(['runs', 'list', '--failed', '-q'])).stdout.trim().split('\n');
      const [ofBroken] = await runsOf(broken);
      const [ofAsking] = await runsOf(asking);
      expect(ids).toContain(ofBroken.id);
      expect(ids).not.toContain(ofAsking.id);
      // The run itself keeps the shape and the words of the contract.
      expect(Object.keys(ofBroken).toSorted()).toEqual(MEMBERS);
      for (const [{ id, session_id: session }, word] of [
        [ofBroken, 'failed'],
        [ofAsking, 'waits for a person'],
      ]) {
        expect((await run(['wait', id])).code).toBe(7);
        expect((await run(['wait', session, '--for', 'completed'])).code).toBe(7);
        expect((await run(['runs', 'get', id])).stdout).toMatch(
          new RegExp(`^outcome +${word}`, 'm'),
        );
      }
      expect((await run(['wait', ofAsking.session_id, '--for', 'status=idle'])).code).toBe(0);
      const sessions = (await run(['sessions', 'list'])).stdout.split('\n');
      const lineOf = (id: string) => sessions.find((line) => line.endsWith(id));
      expect(lineOf(ofBroken.session_id)).toContain(' idle, failed ');
      expect(lineOf(ofAsking.session_id)).toContain(' look_up ');
    },
  );

  it(verifies('cli.runs', 'have their runs watched while they happen'), async () => {
    const id = await make('watched');
    await run(['trigger', id, '--wait']);
    const signals = new EventEmitter();
    const told = new AbortController();
    const watching = run(
      ['runs', 'watch', '--deployment', 'watched', '--interval', '10ms', '-o', 'json'],
      {
        signals,
        onStdout(text) {
          if (text.includes('"version"')) void triggerUntilTold();
          if (text.includes('session_id":"sess_')) signals.emit('SIGINT');
        },
      },
    );
    // Whether the first look is over cannot be seen, so runs are made until one is told of.
    async function triggerUntilTold(): Promise<void> {
      while (!told.signal.aborted) {
        await gateway.call('POST', `/v1/deployments/${id}/runs`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    const watched = await watching.finally(() => told.abort());
    expect(watched.code).toBe(130);
    const lines = watched.stdout.trimEnd().split('\n');
    const events = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'event');
    expect(events.length).toBeGreaterThan(0);
    const [oldest] = (await runsOf(id)).reverse();
    for (const { event } of events) {
      expect(event).toMatchObject({ deployment_id: id, deployment_name: 'watched' });
      expect(event.id).not.toBe(oldest.id);
    }
  });

  it(
    verifies(
      'cli.trigger.no-auto-retry',
      'are triggered once when the answer is lost behind the gateway, and the run is named',
    ),
    async () => {
      const id = await make('lost');
      await run(['trigger', id, '--wait']);
      const before = await runsOf(id);
      const proxy = await startLossyProxy(gateway.url);
      try {
        const lost = await run(['trigger', 'lost', '--wait', '-o', 'json'], {}, proxy.url);
        expect(lost.code).toBe(8);
        const after = await runsOf(id);
        expect(after).toHaveLength(before.length + 1);
        expect(lost.json()).toMatchObject({
          ok: false,
          data: { candidates: [after[0]] },
          error: { code: 'unknown_outcome' },
        });
      } finally {
        proxy.server.closeAllConnections();
        proxy.server.close();
      }
    },
  );
});

/** Passes everything on, and loses the answer to a trigger. */
async function startLossyProxy(target: string): Promise<{ url: string; server: Server }> {
  const server = createServer((incoming, outgoing) => {
    const { method, url = '/', headers } = incoming;
    const forwarded = request(new URL(url, target), { method: method ?? 'GET', headers });
    forwarded.on('response', (answer) => {
      if (method === 'POST') {
        answer.resume().on('end', () => outgoing.destroy());
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return { url: `http://127.0.0.1:${address.port}`, server };
}
