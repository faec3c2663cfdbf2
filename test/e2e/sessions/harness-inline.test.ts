import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';

const harness = { name: 'mine', command: 'node', args: ['agent.mjs'] };
const carriers = {
  '/v1/agents': { name: 'helper', harness },
  '/v1/endpoints': { name: 'help', protocols: ['rest'], runtime: { type: 'agent', harness } },
};

async function start(server: object) {
  const gateway = await startGateway({ server });
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

describe('a command that a caller sends', () => {
  it(
    verifies('harness.declared-by-operator', 'is refused wherever it stands, by default'),
    async () => {
      const gateway = await start({});
      const { call } = gateway;
      for (const [path, body] of Object.entries(carriers)) {
        const { status, body: told } = await call('POST', path, { body });
        expect([status, told.error.type]).toEqual([422, 'unprocessable']);
        expect(told.error.param).toMatch(/harness$/);
      }
      const plain = { name: 'helper', model: 'acme/one' };
      const { id } = (await call('POST', '/v1/agents', { body: plain })).body;
      const update = await call('POST', `/v1/agents/${id}`, { body: { version: 1, harness } });
      expect(update.status).toBe(422);
      const agent = { type: 'agent_with_overrides', id, harness };
      const session = await call('POST', '/v1/sessions', { body: { agent } });
      expect([session.status, session.body.error.param]).toEqual([400, 'agent.harness']);
    },
  );

  it(
    verifies('harness.declared-by-operator', 'is kept and shown where the operator allows it'),
    async () => {
      const { call } = await start({ harnesses_inline: true });
      const whole = { ...harness, env: {}, protocol: 'acp' };
      const made = await call('POST', '/v1/agents', { body: carriers['/v1/agents'] });
      expect([made.status, made.body.harness]).toEqual([201, whole]);
      const session = await call('POST', '/v1/sessions', { body: { agent: made.body.id } });
      expect(session.body.agent.harness).toEqual(whole);
      for (const wrong of [
        { command: 'x' },
        { ...harness, cwd: '/' },
        { ...harness, env: { 'a=b': '' } },
      ]) {
        const body = { name: 'other', harness: wrong };
        expect((await call('POST', '/v1/agents', { body })).status).toBe(400);
      }
    },
  );
});
