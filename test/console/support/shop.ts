import { fileURLToPath } from 'node:url';
import { startGateway } from '../../support/gateway.ts';
import type { StartGatewayOptions, TestGateway } from '../../support/gateway.ts';

const ORDERS = fileURLToPath(
  new URL('../../../templates/agent-service/tools/orders.mjs', import.meta.url),
);

/** A gateway with something of every page: models that fail over, an Agent that asks, a Schedule. */
export const SHOP = {
  namespace: 'shop',
  server: { mcp_servers: { orders: { command: process.execPath, args: [ORDERS] } } },
  providers: [
    {
      name: 'east',
      type: 'mock',
      mock: { rules: [{ reply: { status: 503, error: { message: 'scripted outage' } } }] },
    },
    {
      name: 'west',
      type: 'mock',
      mock: {
        rules: [
          {
            match: { text: 'A-17', turn: 1 },
            reply: { tool_calls: [{ name: 'orders__find_order', arguments: { id: 'A-17' } }] },
          },
        ],
      },
    },
  ],
  models: [
    {
      name: 'openai/gpt-5-mini',
      pricing: { input: '250', output: '2000' },
      routes: [{ provider: 'west', upstream_model: 'gpt-5-mini' }],
    },
    {
      name: 'team/fast',
      pricing: { input: '100', output: '500' },
      routes: [
        { provider: 'east', upstream_model: 'fast', priority: 0 },
        { provider: 'west', upstream_model: 'fast', priority: 1 },
      ],
    },
    { name: 'lab/new', routes: [{ provider: 'west', upstream_model: 'new' }] },
  ],
  agents: [
    {
      name: 'desk',
      model: 'openai/gpt-5-mini',
      system: 'You answer questions about orders.',
      mcp_servers: [{ type: 'stdio', name: 'orders', server: 'orders' }],
      tools: [
        {
          type: 'mcp_toolset',
          mcp_server_name: 'orders',
          default_config: { permission_policy: { type: 'always_ask' } },
        },
      ],
    },
  ],
  services: [
    {
      name: 'Order desk',
      slug: 'desk',
      agent_id: '${ref:agent.desk.id}',
      protocols: ['rest', 'mcp', 'acp'],
    },
  ],
  deployments: [
    {
      name: 'morning-report',
      agent_id: '${ref:agent.desk.id}',
      schedule: { type: 'cron', expression: '0 7 * * 1-5', timezone: 'Europe/Berlin' },
      initial_events: [
        { type: 'user.message', content: [{ type: 'text', text: 'Write the report.' }] },
      ],
    },
  ],
};

const SCOPES = ['inference', 'models', 'assets', 'run', 'agents', 'sessions', 'endpoints'].concat([
  'deployments',
  'credentials',
  'skills',
  'account',
  'admin',
]);

export interface Shop extends TestGateway {
  /** A key of every scope. */
  readonly ownerKey: string;
}

/** Starts one with it, or with another configuration. */
export async function startShop(
  options: StartGatewayOptions & { config?: object } = {},
): Promise<Shop> {
  const { config = SHOP, ...rest } = options;
  const gateway = await startGateway(config, rest);
  const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'owner', scopes: SCOPES });
  return { ...gateway, ownerKey: made.body.value ?? '' };
}

/** Some requests of both kinds, so that the pages have what to show. */
export async function trade(gateway: TestGateway, count = 12): Promise<void> {
  const models = ['openai/gpt-5-mini', 'team/fast', 'lab/new', 'lab/none'];
  for (let index = 0; index < count; index++)
    await gateway.chat(models[index % models.length] as string);
}
