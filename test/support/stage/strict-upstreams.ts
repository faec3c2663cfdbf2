import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import type { StrictVendor } from '../../../src/providers/mock/strict/strict-vendors.ts';
import { customProvider } from '../chat.ts';
import { startGateway } from '../gateway.ts';
import type { TestGateway } from '../gateway.ts';

/** Longer than most vendors take. */
export const TOOL = 'mcp__claude_ai_Cloudflare_Developer_Platform__search_cloudflare_documentation';
export const SCHEMA = {
  type: 'object',
  properties: { q: { type: 'string' } },
  required: ['q'],
} as const;
export const ASK = 'Look both up.';
export const RESULT = 'Nothing was found.';
const THOUGHT = 'Both are looked up at once.';
export const DONE = 'There is nothing to find.';

export interface Upstream {
  readonly vendor: StrictVendor;
  readonly model: string;
  readonly protocol: string;
  /** It shows its reasoning, which other vendors refuse. */
  readonly thinks?: true;
  /** Type of the provider, with all of its protocols. Default: only {@link protocol}. */
  readonly type?: string;
}

/** Models with rules of their own, each at a provider that refuses by its vendor's. */
export const UPSTREAMS: readonly Upstream[] = [
  { vendor: 'openai', model: 'gpt-4.1', protocol: 'chat' },
  { vendor: 'anthropic', model: 'claude-sonnet-4-5', protocol: 'messages', thinks: true },
  { vendor: 'google', model: 'gemini-3-pro', protocol: 'generate-content', thinks: true },
  // Takes tools on Responses only, though it speaks chat.
  { vendor: 'openai', model: 'gpt-6-astra', protocol: 'responses', type: 'openai', thinks: true },
  { vendor: 'groq', model: 'openai/gpt-oss-120b', protocol: 'chat', thinks: true },
  { vendor: 'google', model: 'gemini-2.5-flash', protocol: 'generate-content' },
  { vendor: 'mistral', model: 'mistral-large-2512', protocol: 'chat' },
  { vendor: 'deepseek', model: 'deepseek-v4-pro', protocol: 'chat', thinks: true },
  { vendor: 'anthropic', model: 'claude-opus-4-8', protocol: 'messages', thinks: true },
  { vendor: 'moonshot', model: 'kimi-k2.6', protocol: 'chat', thinks: true },
  { vendor: 'llamacpp', model: 'qwen3.5-35b', protocol: 'chat', thinks: true },
];
export const nameOf = ({ vendor, model }: Upstream): string =>
  `${vendor}/${model.replace('/', '-')}`;

/** A provider that calls a tool twice in each of two turns; the ids of chat are the same in both. */
function startStrict({ vendor: strict, protocol, thinks }: Upstream): Promise<MockServer> {
  const call = (at: number) => ({
    ...(protocol === 'chat' && { id: `call_${at}` }),
    name: TOOL,
    arguments: { q: `${at}` },
  });
  const calls = { ...(thinks && { reasoning: THOUGHT }), tool_calls: [call(0), call(1)] };
  const rules = [1, 2].map((turn) => ({ match: { turn }, reply: calls }));
  return startMockServer({ cassette: { strict, rules: [...rules, { reply: { text: DONE } }] } });
}

/** A gateway with one model for each upstream; `stop` ends the providers, too. */
export async function startStrictGateway(
  upstreams: readonly Upstream[],
): Promise<{ gateway: TestGateway; stop: () => Promise<void> }> {
  const mocks = await Promise.all(upstreams.map(startStrict));
  const gateway = await startGateway({
    providers: upstreams.map(({ protocol, type }, at) => {
      const name = `p${at}`;
      const { url } = mocks[at]!;
      if (type) return customProvider(name, url, { type });
      const isByModel = protocol === 'generate-content';
      const protocols = { [protocol]: isByModel ? { path: '/models/{model}:{method}' } : true };
      return customProvider(name, url, { protocols });
    }),
    models: upstreams.map((upstream, at) => ({
      name: nameOf(upstream),
      routes: [{ provider: `p${at}`, upstream_model: upstream.model, mapping: 'translated' }],
    })),
  });
  const stop = async (): Promise<void> => {
    await gateway.stop();
    await Promise.all(mocks.map((mock) => mock.close()));
  };
  return { gateway, stop };
}
