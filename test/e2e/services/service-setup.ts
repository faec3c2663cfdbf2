import type { TestGateway } from '../../support/gateway.ts';

/** A model that answers what the text asks for, and echoes the rest. */
export const CONFIG = {
  // A slow answer outlasts its test, and the stop need not wait for it.
  server: { drain: '1s' },
  providers: [
    {
      name: 'acme',
      type: 'mock',
      mock: {
        rules: [
          {
            match: { text: 'slowly', stream: true },
            reply: { text: 'one two three four', chunks: 4, chunk_delay_ms: 20_000 },
          },
          { match: { text: 'welcome' }, reply: { text: 'you are welcome', chunks: 3 } },
        ],
      },
    },
  ],
  models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
};

export interface ServiceFields {
  name: string;
  protocols?: string[];
  [field: string]: unknown;
}

/** A Service of an Agent of its own. */
export async function newService(
  { call }: Pick<TestGateway, 'call'>,
  { name, protocols = ['rest', 'mcp', 'acp'], ...rest }: ServiceFields,
): Promise<{ id: string; agent: string }> {
  const made = await call('POST', '/v1/agents', { body: { name, model: 'acme/one' } });
  const agent: string = made.body.id;
  const body = { name, agent_id: agent, protocols, ...rest };
  const { status, body: service } = await call('POST', '/v1/endpoints', { body });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(service)}`);
  return { id: service.id, agent };
}
