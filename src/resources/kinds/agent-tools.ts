import { z } from 'zod';
import { once } from '../../core/lazy.ts';

/** Tools of the built-in toolset; executed by the API client. */
const BUILT_IN = [
  'bash',
  'edit',
  'read',
  'write',
  'glob',
  'grep',
  'web_fetch',
  'web_search',
] as const;

const policy = once(() =>
  z
    .object({ type: z.enum(['always_allow', 'always_ask', 'auto']) })
    .describe('Whether a call needs a confirmation.'),
);
type Policy = z.output<ReturnType<typeof policy>>;

const settings = once(() => ({
  enabled: z.boolean().nullish().describe('Whether the Agent may call it.'),
  permission_policy: policy().nullish(),
}));
const defaults = once(() =>
  z.object(settings()).nullish().describe('For tools that `configs` does not name.'),
);

const domains = once(() => z.array(z.string().min(1).max(253)).min(1).max(64));
const builtInConfig = once(() =>
  z.object({
    name: z.enum(BUILT_IN).describe('Tool that it is about.'),
    type: z.string().optional().describe('The same name.'),
    ...settings(),
    allowed_domains: domains().optional().describe('Only these hosts may be fetched or searched.'),
    blocked_domains: domains().optional().describe('These hosts may not.'),
    max_content_tokens: z.int().positive().nullish().describe('Most tokens of a fetched text.'),
    url_sources: z
      .union([z.enum(['all', 'none']), z.record(z.string(), z.unknown())])
      .nullish()
      .describe('What may name URLs to fetch.'),
    user_location: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('Where searches come from.'),
  }),
);

const mcpConfig = once(() =>
  z.object({
    name: z.string().min(1).max(128).describe('Tool that it is about.'),
    ...settings(),
  }),
);

type Settings = z.output<ReturnType<typeof defaults>>;

/** Every setting spelled out, so that readers need no defaults of their own. */
function resolved<T extends { name: string } & NonNullable<Settings>>(
  given: Settings,
  configs: readonly T[],
  standard: Policy['type'],
) {
  const { enabled, permission_policy: common } = given ?? {};
  const fallback = {
    enabled: enabled ?? true,
    permission_policy: common ?? { type: standard },
  };
  return {
    default_config: fallback,
    configs: configs.map((config) => ({
      ...config,
      enabled: config.enabled ?? fallback.enabled,
      permission_policy: config.permission_policy ?? fallback.permission_policy,
    })),
  };
}

const builtInToolset = once(() =>
  z
    .object({
      type: z.literal('agent_toolset_20260401'),
      default_config: defaults(),
      configs: z.array(builtInConfig()).max(64).nullish().describe('Settings of single tools.'),
    })
    .transform(({ type, default_config: common, configs }) => {
      const named = (configs ?? []).map((config) => ({ ...config, type: config.name }));
      return { type, ...resolved(common, named, 'always_allow') };
    }),
);

const mcpToolset = once(() =>
  z
    .object({
      type: z.literal('mcp_toolset'),
      mcp_server_name: z.string().min(1).max(255).describe('A name of `mcp_servers`.'),
      default_config: defaults(),
      configs: z.array(mcpConfig()).max(256).nullish().describe('Settings of single tools.'),
    })
    .transform(({ type, mcp_server_name, default_config: common, configs }) => ({
      type,
      mcp_server_name,
      ...resolved(common, configs ?? [], 'always_ask'),
    })),
);

const customTool = once(() =>
  z.object({
    type: z.literal('custom'),
    name: z
      .string()
      .refine((value) => /^[\w-]{1,128}$/.test(value), 'expected 1 to 128 letters, digits, _ and -')
      .describe('Unique name.'),
    description: z.string().max(8192).describe('When to use it.'),
    input_schema: z
      .looseObject({ type: z.literal('object') })
      .describe('JSON Schema of its input.'),
  }),
);

/** Tool of an Agent; custom tools and the built-in toolset are executed by the API client. */
export const agentTool = once(() =>
  z.discriminatedUnion('type', [builtInToolset(), mcpToolset(), customTool()]),
);

/** The server that the Skills of an Agent are read from, as events name it. */
export const SKILL_SERVER = 'gateway-skills';

const serverName = once(() =>
  z
    .string()
    .min(1)
    .max(255)
    .refine((value) => value !== SKILL_SERVER, 'is the name under which Skills are read')
    .describe('Name that toolsets call it by.'),
);

/** Server of tools. */
export const agentMcpServer = once(() =>
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('url'),
      name: serverName(),
      url: z
        .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
        .max(2048)
        .refine((url) => !hasUser(url), {
          error: 'must not contain a user name or password',
          params: { unprocessable: true },
        }),
    }),
    z.object({
      type: z.literal('stdio'),
      name: serverName(),
      server: z.string().min(1).max(64).describe('One of `server.mcp_servers`.'),
    }),
  ]),
);

/** Finds a user or password in an address: all readers of the Agent would see it; a Credential hides it. */
function hasUser(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}
