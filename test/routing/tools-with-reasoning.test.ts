import { describe, expect, it } from 'vitest';
import { createHealth } from '../../src/routing/health.ts';
import { explainPlan } from '../../src/routing/explain-plan.ts';
import { planCandidates } from '../../src/routing/plan.ts';
import { toModel } from '../../src/routing/resolve-model.ts';
import type { RouteRecord } from '../../src/routing/resolve-model.ts';
import { azureOpenai } from '../../src/providers/azure-openai.ts';
import type { ProviderDefinition } from '../../src/providers/define-provider.ts';
import { openai } from '../../src/providers/openai.ts';
import { openrouter } from '../../src/providers/openrouter.ts';
import type { Protocol } from '../../src/protocols/registry.ts';
import { servedProtocols } from '../../src/surfaces/model-protocols.ts';
import { SPOKEN } from '../protocols/spoken.ts';
import { fakeAccount, fakeCatalog } from '../support/catalog.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { verifies } from '../requirements.ts';
import { accountRecord, DEFAULTS, modelRecord, routeRecord } from './records.ts';

const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const CUSTOM = { type: 'custom', custom: { name: 'patch' } };
const BOTH: readonly Protocol[] = ['chat', 'responses'];

const health = createHealth({ clock: createFakeClock() });

function modelOf(
  upstream: string,
  definition: ProviderDefinition = openai,
  route: Partial<RouteRecord> = {},
) {
  const { protocols } = definition;
  const account = { ...fakeAccount('acme', { protocols }), definition };
  const routes = [routeRecord('acme', { upstream_model: upstream, ...route })];
  const record = modelRecord('m', { routes });
  return toModel(record, () => accountRecord('acme', { account }), DEFAULTS);
}

/** Protocol in which the provider is asked. */
function spokenTo(
  model: ReturnType<typeof modelOf>,
  fields: object,
  client: Protocol = 'chat',
): Protocol | undefined {
  const wire = SPOKEN.wires[client];
  const body = { model: 'm', messages: [], contents: [], max_tokens: 9, ...fields };
  const peek = wire.peek(Buffer.from(JSON.stringify(body)), { model: 'm' });
  const { candidates } = planCandidates({
    catalog: fakeCatalog(model),
    model,
    client: wire,
    tools: () => wire.toolsRequest?.(peek),
    health,
    random: () => 0.5,
    affinity: 'key_1',
  });
  return candidates[0]?.protocol;
}

describe('a chat request with function tools', () => {
  it(
    verifies(
      'capabilities.tools-with-reasoning',
      'current.tools-need-responses',
      'goes to Responses at an effort that the vendor refuses in chat',
    ),
    () => {
      const cases: [model: string, effort: unknown, protocol: Protocol][] = [
        ['gpt-5.3', 'high', 'chat'],
        ['gpt-5.4', undefined, 'chat'],
        ['gpt-5.4-mini', 'low', 'responses'],
        ['gpt-5.5', undefined, 'responses'],
        ['gpt-5.5', null, 'responses'],
        ['gpt-5.5-chat-latest', undefined, 'chat'],
        ['gpt-5.6-terra', 'none', 'chat'],
        ['gpt-5.6-terra', undefined, 'responses'],
        ['gpt-6-luna', 'none', 'chat'],
        ['gpt-6-luna', 'max', 'responses'],
        ['gpt-6-sol', 'none', 'chat'],
        ['gpt-6-astra', 'none', 'responses'],
        ['gpt-6-astra', undefined, 'responses'],
        ['gpt-6.1-sol', 'none', 'responses'],
        ['gpt-4.1', undefined, 'chat'],
        ['o4-mini', 'high', 'chat'],
      ];
      for (const definition of [openai, azureOpenai])
        for (const [model, effort, protocol] of cases) {
          const spoken = spokenTo(modelOf(model, definition), {
            tools: [CUSTOM, TOOL],
            reasoning_effort: effort,
          });
          expect(spoken, `${definition.id} ${model} ${String(effort)}`).toBe(protocol);
        }
    },
  );

  it(
    verifies(
      'capabilities.tools-with-reasoning',
      'current.tools-need-responses',
      'is chat without them, whatever the effort',
    ),
    () => {
      for (const tools of [undefined, null, [], [CUSTOM], 'odd', [3]])
        for (const effort of ['high', undefined])
          expect(spokenTo(modelOf('gpt-6-astra'), { tools, reasoning_effort: effort })).toBe(
            'chat',
          );
    },
  );

  it(
    verifies(
      'capabilities.tools-with-reasoning',
      'current.tools-need-responses',
      'stays in chat elsewhere, unless the route says',
    ),
    () => {
      const asked = { tools: [TOOL], reasoning_effort: 'high' };
      const both = { ...openrouter, protocols: openai.protocols };
      expect(spokenTo(modelOf('openai/gpt-5.6-sol', both), asked)).toBe('chat');
      const only = { capabilities: { tools_with_reasoning: 'responses' } } as const;
      expect(spokenTo(modelOf('my-model', both, only), asked)).toBe('responses');
      const any = { capabilities: { tools_with_reasoning: null } };
      expect(spokenTo(modelOf('gpt-5.6-sol', openai, any), asked)).toBe('chat');
      const chat = { protocols: ['chat'] } as const;
      expect(spokenTo(modelOf('gpt-5.6-sol', openai, chat), asked)).toBe('chat');
    },
  );
});

it(
  verifies(
    'capabilities.tools-with-reasoning',
    'current.tools-need-responses',
    'Messages go to Responses, generate-content only where the route maps it',
  ),
  () => {
    const route = { protocols: BOTH };
    const tools = [{ name: 'f', input_schema: { type: 'object' } }];
    expect(spokenTo(modelOf('gpt-6-astra', openai, route), { tools }, 'messages')).toBe(
      'responses',
    );
    const google = { tools: [{ functionDeclarations: [{ name: 'f' }] }] };
    const asked = (mapping: 'native' | 'translated') =>
      spokenTo(modelOf('gpt-6-astra', openai, { ...route, mapping }), google, 'generate-content');
    expect(asked('translated')).toBe('responses');
    expect(asked('native')).toBeUndefined();
  },
);

it(
  verifies(
    'capabilities.tools-with-reasoning',
    'current.tools-need-responses',
    'the catalog and an explained plan show the rule',
  ),
  () => {
    const { chat, messages } = SPOKEN.wires;
    const model = modelOf('gpt-5.6-sol');
    const served = servedProtocols(model, [chat, messages]);
    expect(served.chat).toMatchObject([
      { provider_protocol: 'chat', translated: false },
      { provider_protocol: 'responses', translated: true, tools_with_reasoning: true },
    ]);
    expect(served.chat?.[0]).not.toHaveProperty('tools_with_reasoning');
    expect(served.messages).toHaveLength(1);
    const explain = (client = chat) =>
      explainPlan({ catalog: fakeCatalog(model), model, client, health, affinity: '' });
    expect(explain().candidates[0]).toMatchObject({
      protocol: 'chat',
      capabilities: { tools_with_reasoning: 'responses' },
      why: 'priority 0; with function tools and reasoning translated to responses',
    });
    expect(explain(messages).candidates[0]?.why).toBe('priority 0; translated from messages');
  },
);

it(
  verifies('current.no-none', 'a native request keeps the effort none, whatever the model takes'),
  () => {
    const asked = { reasoning_effort: 'none', reasoning: { effort: 'none' }, input: 'hi' };
    for (const model of ['gpt-6-astra', 'gpt-6.1-sol', 'o3'])
      for (const client of BOTH) expect(spokenTo(modelOf(model), asked, client)).toBe(client);
  },
);

it(
  verifies(
    'current.capabilities-override',
    'a route states other capabilities than the rules, and an explained plan says which decided',
  ),
  () => {
    const { chat } = SPOKEN.wires;
    const explain = (model: ReturnType<typeof modelOf>) =>
      explainPlan({ catalog: fakeCatalog(model), model, client: chat, health, affinity: '' })
        .candidates[0];
    const pages = 'https://developers.openai.com/api/docs/models/gpt-6-astra';
    const ruled = explain(modelOf('gpt-6-astra'));
    expect(ruled?.decided_by).toMatchObject({
      efforts: pages,
      thinking_off: pages,
      tools_with_reasoning: 'https://github.com/openai/openai-openapi/issues/541',
    });
    const stated = {
      efforts: ['none', 'low'],
      thinking_off: true,
      tools_with_reasoning: null,
    } as const;
    for (const name of ['efforts', 'thinking_off', 'tools_with_reasoning'] as const) {
      const capabilities = { [name]: stated[name] };
      const line = explain(modelOf('gpt-6-astra', openai, { capabilities }));
      expect(line?.capabilities).toEqual({ ...ruled?.capabilities, ...capabilities });
      expect(line?.decided_by).toEqual({ ...ruled?.decided_by, [name]: 'route' });
    }
    const tools = [TOOL];
    const any = modelOf('gpt-6-astra', openai, { capabilities: stated });
    expect(spokenTo(any, { tools, reasoning_effort: 'high' })).toBe('chat');
    const off = { thinking_off: true };
    const none = modelOf('gpt-6-astra', openai, { capabilities: off });
    expect(spokenTo(none, { tools, reasoning_effort: 'none' })).toBe('chat');
    const typed = { ...openai, capabilities: { penalties: false } };
    expect(explain(modelOf('gpt-6-astra', typed))?.decided_by).toMatchObject({
      penalties: 'provider',
    });
  },
);
