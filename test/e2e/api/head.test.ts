import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listenForMetrics } from '../../../src/server/process/metrics-listener.ts';
import { metricsText } from '../../../src/server/process/metrics.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw, openRaw } from '../../support/raw-client.ts';

/** Of an answer that differs from one to the next. */
const OWN = ['x-request-id', 'request-id', 'date'];

describe('HEAD', () => {
  let gateway: TestGateway;
  const made: Record<string, string> = {};

  beforeAll(async () => {
    gateway = await startGateway({
      providers: [{ name: 'mock', type: 'mock' }],
      models: [{ name: 'acme/fast', routes: [{ provider: 'mock' }] }],
    });
    const agent = await gateway.call('POST', '/v1/agents', {
      body: { name: 'one', model: 'acme/fast' },
    });
    made['agent'] = agent.body.id;
    const session = await gateway.call('POST', '/v1/sessions', { body: { agent: made['agent'] } });
    made['session'] = session.body.id;
    await gateway.chat('acme/fast');
    // Its record is written behind the answer.
    await eventually(async () => {
      const { body } = await gateway.admin('GET', '/admin/v1/requests');
      return body.data.some(({ result }: { result: string }) => result === 'ok');
    });
  });
  afterAll(() => gateway.stop());

  const ask = async (method: string, path: string, key = gateway.adminKey) => {
    const { status, headers, body } = await askRaw(gateway.url + path, { method, key });
    for (const name of OWN) delete headers[name];
    return { status, headers, body: body.toString() };
  };

  it(verifies('http.head', 'answers as GET does, without a body'), async () => {
    const paths = [
      '/healthz',
      '/readyz',
      '/openapi.json',
      '/admin/openapi.json',
      '/v1/models',
      '/v1/models?q=fast',
      '/v1/models/acme/fast',
      '/v1/models/acme/unknown',
      '/v1beta/models',
      '/v1/agents',
      `/v1/agents/${made['agent']}`,
      `/v1/agents/${made['agent']}/versions`,
      '/v1/sessions',
      `/v1/sessions/${made['session']}`,
      `/v1/sessions/${made['session']}/events`,
      '/v1/sessions/sess_unknown',
      '/v1/endpoints',
      '/v1/deployments',
      '/v1/deployment_runs',
      '/v1/credentials',
      '/v1/skills',
      '/v1/files',
      '/v1/assets/unknown',
      '/v1/run/unknown',
      '/v1/account',
      '/v1/account/key',
      '/v1/videos',
      '/v1/webhooks/deliveries',
      '/admin/v1/models',
      '/admin/v1/keys',
      '/admin/v1/keys/key_unknown',
      '/admin/v1/usage',
      '/admin/v1/requests',
      '/no/such/path',
    ];
    for (const path of paths) {
      const get = await ask('GET', path);
      const head = await ask('HEAD', path);
      // A relative age, of the process or of a Session, may grow between the two.
      const hasAge = /^\/(?:healthz|readyz|v1\/sessions(?:\/sess_\w+)?)$/.test(path);
      if (hasAge) delete get.headers['content-length'];
      if (hasAge) delete head.headers['content-length'];
      expect([path, head.status, head.headers]).toEqual([path, get.status, get.headers]);
      expect([path, head.body]).toEqual([path, '']);
    }
  });

  it(verifies('http.head', 'tells an operator of the metrics'), async () => {
    const listener = await listenForMetrics({ host: '127.0.0.1', port: 0 }, metricsText);
    onTestFinished(() => listener.close());
    const [get, head] = [
      await askRaw(listener.url, { method: 'GET' }),
      await askRaw(listener.url, { method: 'HEAD' }),
    ];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-type']).toBe(get.headers['content-type']);
  });

  it(verifies('http.head', 'asks for the same key'), async () => {
    expect((await ask('HEAD', '/v1/models', '')).status).toBe(401);
    expect((await ask('HEAD', '/admin/v1/keys', gateway.clientKey)).status).toBe(403);
  });

  it(verifies('http.head', 'opens no stream'), async () => {
    const path = `/v1/sessions/${made['session']}/events/stream`;
    const opened = await openRaw(gateway.url + path, { method: 'GET', key: gateway.clientKey });
    const head = await ask('HEAD', path, gateway.clientKey);
    opened.destroy();
    expect(head.status).toBe(opened.status);
    expect(head.headers['content-type']).toBe(opened.headers['content-type']);
    expect(head.body).toBe('');
  });

  it(verifies('http.head', 'is listed where GET is, and refused where GET is'), async () => {
    const told = async (method: string, path: string) => {
      const { status, headers } = await ask(method, path);
      return [status, headers['allow']];
    };
    expect(await told('DELETE', '/v1/models')).toEqual([405, 'GET, HEAD']);
    expect(await told('PUT', `/v1/agents/${made['agent']}`)).toEqual([
      405,
      expect.stringMatching(/^GET, HEAD, /),
    ]);
    expect(await told('HEAD', '/v1/chat/completions')).toEqual([405, 'POST']);
    expect(await told('HEAD', '/v1/api/acme/x')).toEqual([405, 'GET, POST']);
  });
});
