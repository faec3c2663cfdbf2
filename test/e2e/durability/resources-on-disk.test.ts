import { expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import { traceStore } from './traced-store.ts';
import { inTurn } from '../../runs.ts';

const HELLO = [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }];
const ROUNDS = 3;

it(
  verifies(
    'store.ledger-sync.resources-unchanged',
    'resources, events of Sessions and runs are on the disk before they are acknowledged, whatever ledger_sync says',
  ),
  async () => {
    // The value that leaves most to the system, and none.
    for (const value of inTurn('ledger_sync of resources', ['process', null])) {
      const gateway = await startGateway(
        {
          server: { store: { driver: 'lmdb' }, ...(value !== null && { ledger_sync: value }) },
          providers: [{ name: 'mock', type: 'mock' }],
          models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
        },
        { binary: true },
      );
      onTestFinished(async () => void (await gateway.stop()));
      const make = async (path: string, body: object): Promise<any> => {
        const answer = await gateway.call('POST', path, { body });
        expect(answer.status).toBeLessThan(300);
        return answer.body;
      };
      const agent = (await make('/v1/agents', { name: 'one', model: 'acme/echo' })).id;
      const session = (await make('/v1/sessions', { agent })).id;
      const plan = { name: 'd', agent, initial_events: HELLO };
      const deployment = (await make('/v1/deployments', plan)).id;

      const trace = await traceStore(gateway.child!.pid!);
      const ids: string[] = [];
      const calls: string[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const resource = await make('/v1/agents', { name: `a${round}`, model: 'acme/echo' });
        const sent = await make(`/v1/sessions/${session}/events`, { events: HELLO });
        const run = await make(`/v1/deployments/${deployment}/runs`, {});
        ids.push(resource.id, sent.data[0].id, run.id);
        const { headers } = await gateway.chat('acme/echo');
        calls.push(headers.get('x-request-id') ?? '');
      }
      const early = await trace.early([...ids, ...calls]);
      expect(early.filter((id) => ids.includes(id))).toEqual([]);
      // Calls are acknowledged by the journal: the trace would show it of resources, too.
      expect(early.length).toBeGreaterThan(0);
      await gateway.stop();
    }
  },
);
