import { Client } from '@modelcontextprotocol/client';
import type { ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { BINARY, eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { CONFIG, newService } from './service-setup.ts';

const MODES: [string, ClientOptions][] = [
  ['by default', {}],
  ['with the negotiation auto', { versionNegotiation: { mode: 'auto' } }],
];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(CONFIG);
});
afterAll(() => gateway.stop());

describe('a Service over stdio', () => {
  it.each(MODES)(
    verifies('bridges.stdio', 'serves the official client 2 %s, and takes its calls back'),
    async (_mode, options) => {
      const slug = options.versionNegotiation ? 'negotiating' : 'plain';
      const { id } = await newService(gateway, { name: slug, slug, protocols: ['mcp'] });
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [BINARY, 'mcp', slug],
        cwd: gateway.directory,
        env: { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.clientKey },
        stderr: 'pipe',
      });
      const client = new Client({ name: 'test', version: '1' }, options);
      onTestFinished(() => client.close());
      await client.connect(transport);
      const isModern = options.versionNegotiation !== undefined;
      expect(client.getNegotiatedProtocolVersion() === '2026-07-28').toBe(isModern);
      const { structuredContent } = await client.callTool({
        name: 'send_message',
        arguments: { input: 'welcome?', wait: true },
      });
      expect(structuredContent).toMatchObject({ status: 'idle' });

      const stop = new AbortController();
      // The client leaves out progress that arrives together with the answer, which this one is far from.
      const progress: unknown[] = [];
      const call = client.callTool(
        { name: 'send_message', arguments: { input: 'slowly', wait: true } },
        { signal: stop.signal, onprogress: ({ message }) => void progress.push(message) },
      );
      call.catch(() => undefined);
      await eventually(() => progress.length > 1, 20_000);
      expect(progress).toEqual(['session.status_running', 'span.model_request_start']);
      const running = (await gateway.call('GET', '/v1/sessions?statuses=running')).body;
      expect(running.data.filter((one: any) => one.endpoint_id === id)).toHaveLength(1);
      stop.abort('enough');
      await expect(call).rejects.toThrow('enough');
      expect((await client.listTools()).tools).toHaveLength(2);
    },
  );
});
