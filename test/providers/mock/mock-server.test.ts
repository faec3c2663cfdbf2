import { describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { rawCall } from './raw-call.ts';
import { useMockServer } from './use-mock-server.ts';

const BODY = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

describe('mock server', () => {
  it('tells that it is up', async () => {
    const { url } = await useMockServer();
    expect(await rawCall(`${url}/healthz`)).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  });

  it(verifies('mock.offline', 'takes another cassette while it runs'), async () => {
    const { url } = await useMockServer();
    const cassette = { rules: [{ reply: { text: 'scripted' } }] };
    expect((await rawCall(`${url}/__mock/cassette`, { body: cassette })).status).toBe(204);
    expect((await rawCall(`${url}/v1/chat/completions`, { body: BODY })).text).toContain(
      'scripted',
    );
    const refused = await rawCall(`${url}/__mock/cassette`, {
      body: { rules: [{ reply: { text: 1 } }] },
    });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('rules[0].reply.text');
    expect((await rawCall(`${url}/__mock/cassette`, { body: '{' })).status).toBe(400);
    expect((await rawCall(`${url}/v1/chat/completions`, { body: BODY })).text).toContain(
      'scripted',
    );
    expect((await rawCall(`${url}/__mock/other`)).status).toBe(404);
  });

  it('tells what it was called with, credentials masked', async () => {
    const { url, engine } = await useMockServer();
    await rawCall(`${url}/v1/chat/completions?key=query-secret-0123456789&a=1`, {
      body: BODY,
      headers: {
        authorization: 'Bearer sk-secret-0123456789abcd',
        'x-api-key': 'short',
        'x-a': 'b',
      },
    });
    const { text } = await rawCall(`${url}/__mock/calls`);
    expect(text).not.toMatch(/secret|short/);
    expect(JSON.parse(text).calls).toEqual([
      expect.objectContaining({
        index: 1,
        model: 'm',
        method: 'POST',
        path: '/v1/chat/completions?key=***&a=1',
        body: JSON.stringify(BODY),
        outcome: 'done',
        headers: expect.objectContaining({
          authorization: 'Bearer ***abcd',
          'x-api-key': '***',
          'x-a': 'b',
        }),
      }),
    ]);
    expect(engine.calls()[0]?.headers.authorization).toBe('Bearer sk-secret-0123456789abcd');
    expect((await rawCall(`${url}/__mock/calls`, { method: 'DELETE' })).status).toBe(204);
    expect((await rawCall(`${url}/__mock/calls`)).text).toBe('{"calls":[]}');
  });

  it('refuses an invalid cassette and a taken port', async () => {
    await expect(
      startMockServer({ cassette: { rules: [{ reply: { status: 99 } }] } }),
    ).rejects.toThrow('rules[0].reply.status');
    const { url } = await useMockServer();
    await expect(startMockServer({ port: Number(new URL(url).port) })).rejects.toThrow(
      'EADDRINUSE',
    );
  });

  it('closes busy connections', async () => {
    const server = await startMockServer({
      cassette: { rules: [{ reply: { delay_ms: 600_000 } }] },
    });
    const pending = rawCall(`${server.url}/v1/chat/completions`, { body: BODY });
    await expect
      .poll(async () => (await rawCall(`${server.url}/__mock/calls`)).text)
      .toContain('"open"');
    await server.close();
    expect((await pending).complete).toBe(false);
  });
});
