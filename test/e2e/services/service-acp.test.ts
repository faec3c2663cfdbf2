import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { createAcpStream } from '../../support/acp-stream.ts';
import { BINARY, eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { CONFIG, newService } from './service-setup.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const { agent: of, client: us } = acp.methods;

async function start(
  options: Parameters<typeof startGateway>[1] = {},
  server: object = {},
): Promise<TestGateway> {
  const gateway = await startGateway(
    { ...CONFIG, server: { ...CONFIG.server, ...server } },
    options,
  );
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

/** Runs `work` with the official client; gives the texts that the agent said. */
async function withClient(
  stream: acp.Stream,
  work: (agent: acp.ClientContext) => Promise<void>,
): Promise<string[]> {
  const said: string[] = [];
  await acp
    .client({ name: 'test' })
    .onNotification(us.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate !== 'agent_message_chunk') return;
      if (update.content.type === 'text') said.push(update.content.text);
    })
    .connectWith(stream, async (agent) => {
      await agent.request(of.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
      await work(agent);
    });
  return said;
}

const prompt = (agent: acp.ClientContext, sessionId: string, text: string) =>
  agent.request(of.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });

describe('POST /v1/endpoints/{id}/acp', () => {
  it(
    verifies(
      'acp.initialize',
      'acp.session-new',
      'acp.prompt.ndjson',
      'sessions.identity.public-id',
      'lets the official client prompt an Agent, in Sessions that REST knows too',
    ),
    async () => {
      const gateway = await start();
      const { id } = await newService(gateway, { name: 'editor', protocols: ['acp'] });
      const url = `${gateway.url}/v1/endpoints/${id}/acp`;
      let session = '';
      const said = await withClient(createAcpStream(url, gateway.clientKey), async (agent) => {
        const { sessionId } = await agent.request(of.session.new, { cwd: '/', mcpServers: [] });
        session = sessionId;
        expect(await prompt(agent, sessionId, 'welcome?')).toEqual({ stopReason: 'end_turn' });
      });
      expect(said.join('')).toBe('you are welcome');
      const { body } = await gateway.call('GET', `/v1/sessions/${session}`);
      expect(body).toMatchObject({ id: session, endpoint_id: id, status: 'idle' });
      const events = await gateway.call('GET', `/v1/sessions/${session}/events`);
      expect(events.body.data.map(({ type }: any) => type)).toEqual([
        'user.message',
        'session.status_running',
        'span.model_request_start',
        'agent.message',
        'span.model_request_end',
        'session.status_idle',
      ]);
    },
  );

  it(verifies('acp.cancel', 'cancels a prompt on whichever process it runs'), async () => {
    const directory = await directoryOfTest();
    const one = await start({ directory }, { store: { driver: 'lmdb' } });
    const other = await start({ binary: true, directory });
    const { id } = await newService(one, { name: 'slow' });
    const path = `/v1/endpoints/${id}/acp`;
    const key = one.clientKey;
    await withClient(createAcpStream(one.url + path, key), async (agent) => {
      const { sessionId } = await agent.request(of.session.new, { cwd: '/', mcpServers: [] });
      const asked = prompt(agent, sessionId, 'say it slowly');
      await eventually(async () => {
        const { body } = await other.call('GET', `/v1/sessions/${sessionId}/events`, { key });
        return body.data.some(({ type }: any) => type === 'span.model_request_start');
      });
      const params = { sessionId };
      const body = { jsonrpc: '2.0', method: 'session/cancel', params };
      expect((await other.call('POST', path, { key, body })).status).toBe(202);
      expect(await asked).toEqual({ stopReason: 'cancelled' });
    });
  });

  it(verifies('bridges.stdio', 'is a process on stdio for the official client, too'), async () => {
    const gateway = await start();
    await newService(gateway, { name: 'Bridged', protocols: ['acp'] });
    const child = spawn(process.execPath, [BINARY, 'acp', 'Bridged'], {
      cwd: gateway.directory,
      env: { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.clientKey },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const ended = once(child, 'exit');
    const stream = acp.ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    );
    const said = await withClient(stream, async (agent) => {
      const { sessionId } = await agent.request(of.session.new, { cwd: '/', mcpServers: [] });
      expect(await prompt(agent, sessionId, 'welcome?')).toEqual({ stopReason: 'end_turn' });
    });
    expect(said.join('')).toBe('you are welcome');
    child.stdin.destroy();
    expect(await ended).toEqual([0, null]);
  });
});
