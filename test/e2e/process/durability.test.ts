import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const CONFIG = {
  server: { store: { driver: 'lmdb' } },
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock', pricing: { per_call: '0.01' } }] }],
};
const HELLO = [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }];

/** A write that was answered with success, and where it must be found. */
interface Acked {
  readonly what: string;
  readonly path: string;
  readonly admin?: boolean;
  isThere(body: any): boolean;
}

/** What the writers of one round were told, and whom they wrote for. */
interface Bound {
  readonly agent: string;
  readonly session: string;
  readonly deployment: string;
  readonly key: string;
  readonly keyId: string;
}

async function prepare(gateway: TestGateway): Promise<Bound> {
  const make = async (path: string, body: object) =>
    (await gateway.call('POST', path, { body })).body.id as string;
  const agent = await make('/v1/agents', { name: 'writer', model: 'acme/echo' });
  const limited = { name: 'limited', spending_limit: { lifetime: 1000 } };
  const { body } = await gateway.admin('POST', '/admin/v1/keys', limited);
  return {
    agent,
    session: await make('/v1/sessions', { agent }),
    deployment: await make('/v1/deployments', { name: 'd', agent, initial_events: HELLO }),
    key: body.value,
    keyId: body.id,
  };
}

/** Writes of every kind, for as long as somebody answers. */
function writers(gateway: TestGateway, bound: Bound, note: (acked: Acked) => void) {
  const send = async (path: string, body: object, key = gateway.clientKey) => {
    const answer = await gateway.call('POST', path, { body, key });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status}`);
    return answer;
  };
  const resource = async (round: number) => {
    const { body } = await send('/v1/agents', { name: `a${round}`, model: 'acme/echo' });
    const isThere = (found: any) => found.name === `a${round}`;
    note({ what: 'resource', path: `/v1/agents/${body.id}`, isThere });
  };
  const key = async (round: number) => {
    const { body } = await send('/admin/v1/keys', { name: `k${round}` }, gateway.adminKey);
    const isThere = (found: any) => found.id === body.id;
    note({ what: 'key', path: `/admin/v1/keys/${body.id}`, admin: true, isThere });
  };
  const session = async () => {
    const { body } = await send('/v1/sessions', { agent: bound.agent, initial_events: HELLO });
    const isThere = ({ data }: any) => data[0]?.type === 'user.message';
    note({ what: 'session', path: `/v1/sessions/${body.id}/events`, isThere });
  };
  const event = async () => {
    const { body } = await send(`/v1/sessions/${bound.session}/events`, { events: HELLO });
    const id: string = body.data[0].id;
    const path = `/v1/sessions/${bound.session}/events?types[]=user.message&limit=1000`;
    note({ what: 'event', path, isThere: ({ data }) => data.some((one: any) => one.id === id) });
  };
  const run = async () => {
    const { body } = await send(`/v1/deployments/${bound.deployment}/runs`, {});
    const isThere = (found: any) => found.session_id === body.session_id;
    note({ what: 'run', path: `/v1/deployment_runs/${body.id}`, isThere });
    note({
      what: 'session of a run',
      path: `/v1/sessions/${body.session_id}`,
      isThere: ({ deployment_id }) => deployment_id === bound.deployment,
    });
  };
  const call = async () => {
    const body = { model: 'acme/echo', messages: [{ role: 'user', content: 'hi' }] };
    const { headers } = await send('/v1/chat/completions', body, bound.key);
    const id = headers.get('x-request-id');
    // What it cost is settled behind the answer, by whoever recovers the call if its process died.
    const isThere = (row: any) => row.id === id && row.key.id === bound.keyId;
    note({ what: 'ledger row', path: `/admin/v1/requests/${id}`, admin: true, isThere });
  };
  return [resource, key, session, event, run, call].map(async (write) => {
    for (let round = 0; ; round++) {
      const isOver = await write(round).then(
        () => false,
        () => true,
      );
      if (isOver) return;
    }
  });
}

describe('kill -9 in the middle of writes', () => {
  it(
    verifies(
      'store.durability.ack',
      'loses nothing that was answered with success, and leaves the rest whole or absent',
    ),
    async () => {
      const directory = await directoryOfTest();
      const acked: Acked[] = [];
      const first = await startGateway(CONFIG, { binary: true, directory });
      const bound = await prepare(first);
      const { clientKey } = first;
      const writing = writers(first, bound, (one) => acked.push(one));
      while (new Set(acked.map(({ what }) => what)).size < 7 || acked.length < 150) await pause(5);
      const exit = once(first.child!, 'exit');
      first.child!.kill('SIGKILL');
      await exit;
      await Promise.all(writing);

      // What is not killed need not be a process of its own.
      const second = await startGateway(CONFIG, { directory });
      onTestFinished(async () => void (await second.stop()));
      const missing: string[] = [];
      for (const { what, path, admin, isThere } of acked) {
        const key = admin === true ? second.adminKey : clientKey;
        const { status, body } = await second.call('GET', path, { key });
        if (status !== 200 || !isThere(body)) missing.push(`${what} ${path} ${status}`);
      }
      expect(missing).toEqual([]);

      const sessions = await second.call('GET', '/v1/sessions?limit=100', { key: clientKey });
      for (const { id } of sessions.body.data) {
        const path = `/v1/sessions/${id}/events?limit=1000`;
        const { body } = await second.call('GET', path, { key: clientKey });
        const isEmpty = id === bound.session && body.data.length === 0;
        expect(isEmpty || body.data[0].type).toBe('user.message');
      }
    },
  );
});
