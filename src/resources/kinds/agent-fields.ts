import { z } from 'zod';
import { once } from '../../core/lazy.ts';
import { GatewayError } from '../../core/errors.ts';
import { agentMcpServer, agentTool } from './agent-tools.ts';
import type { Spec } from '../store/stored.ts';
import type { Reference } from '../store/define-resource.ts';
import { exactly } from '../fields/fields.ts';

const level = z.enum(['low', 'medium', 'high', 'xhigh', 'max']);
const effort = once(() =>
  z.union([level.transform((type) => ({ type })), z.object({ type: level })]),
);
const modelId = z.string().trim().min(1).max(256);

export interface Model {
  id: string;
  effort?: { type: z.output<typeof level> };
  speed?: 'standard' | 'fast';
  inference_geo?: string;
}

/** Only a name, or one with settings; the object form without unset members. */
export const agentModel = once(() =>
  z.union([
    modelId.transform((id): Model => ({ id })),
    z
      .object({
        id: modelId.describe('Logical model.'),
        effort: effort().nullish().describe('How hard it works: low to max.'),
        speed: z.enum(['standard', 'fast']).nullish().describe('Speed of its answers.'),
        inference_geo: z.string().max(64).nullish().describe('Region of its inference.'),
      })
      .transform((model): Model => ({
        id: model.id,
        ...(model.effort && { effort: model.effort }),
        ...(model.speed && { speed: model.speed }),
        ...(model.inference_geo && { inference_geo: model.inference_geo }),
      })),
  ]),
);

const MAX_SYSTEM = 100_000;
const MAX_TOOLS = 256;
const MAX_SERVERS = 20;
const MAX_SKILLS = 64;

/** Null and an empty text clear it. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .nullish()
    .transform((value) => value || null);

/** Null and an empty list clear it. */
const list = <T extends z.ZodType>(item: T, max: number) =>
  z
    .array(item)
    .max(max)
    .nullish()
    .transform((value) => value ?? []);

const skill = once(() =>
  z.object({
    type: z.enum(['custom', 'anthropic']),
    skill_id: z.string().min(1).max(128).describe('Id of the Skill.'),
    version: z.string().min(1).max(128).nullish().describe('Its version; default: the latest.'),
  }),
);

/** A program that the Agent itself brings along. */
const inlineHarness = once(() =>
  exactly({
    name: z.string().regex(/^[\w.-]{1,64}$/, 'expected letters, digits, . _ and -'),
    command: z.string().min(1).max(4_096).describe('Program to run; found as the shell would.'),
    args: z.array(z.string().max(32_768)).max(256).default([]).describe('Its arguments.'),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), z.string().max(32_768))
      .default({})
      .describe('Variables that it gets, seen by whoever sees the Agent; secrets are Credentials.'),
    protocol: z
      .enum(['acp', 'jsonl'])
      .default('acp')
      .describe('What it speaks on stdin and stdout.'),
  }),
);

/** Fields of an Agent and of a declarative runtime. */
export const agentParts = once(() => ({
  model: agentModel()
    .nullable()
    .default(null)
    .describe('Logical model, or {id, effort?, speed?}; a harness may need none.'),
  system: text(MAX_SYSTEM).describe('System prompt.'),
  tools: list(agentTool(), MAX_TOOLS).describe('What it may call.'),
  mcp_servers: list(agentMcpServer(), MAX_SERVERS).describe(
    'MCP servers that its tools come from.',
  ),
  skills: list(skill(), MAX_SKILLS).describe('Skills that it has.'),
  harness: z
    .union([z.string().min(1).max(64), inlineHarness()])
    .nullable()
    .default(null)
    .describe(
      'One of `server.harnesses` that runs its turns, or with `server.harnesses_inline` a program; default: the built-in model loop.',
    ),
}));

/** Members of an Agent that something else has in place of the Agent's own; null clears one. */
export const agentOverrides = once(() =>
  exactly({
    model: agentModel().nullish().describe('Logical model, or {id, effort?, speed?}.'),
    system: z.string().max(MAX_SYSTEM).nullish().describe('System prompt.'),
    tools: z.array(agentTool()).max(MAX_TOOLS).nullish().describe('What it may call.'),
    mcp_servers: z
      .array(agentMcpServer())
      .max(MAX_SERVERS)
      .nullish()
      .describe('MCP servers that its tools come from.'),
    skills: z.array(skill()).max(MAX_SKILLS).nullish().describe('Skills that it has.'),
  }),
);

export const description = text(2048).describe('What it does.');

export type AgentParts = z.output<z.ZodObject<ReturnType<typeof agentParts>>>;

/** Parts of an Agent as it is stored. */
export function partsOf(spec: Readonly<Record<string, unknown>>): AgentParts {
  return spec as AgentParts;
}

/** The names that the operator declared in the `server` section. */
export interface OperatorNames {
  harnesses: ReadonlySet<string>;
  mcpServers: ReadonlySet<string>;
  /** Agents may bring programs of their own. Default: they may not. */
  harnessesInline?: boolean;
}

/**
 * Judges the parts together (requirement agents.tools.validation); `prefix` is their path.
 *
 * @throws GatewayError `invalid_request`; `unprocessable` for a name that the operator did not declare
 */
export function checkAgentParts(given: AgentParts, prefix = '', operator?: OperatorNames): void {
  const { model, harness, tools, mcp_servers: servers } = given;
  if (!model && !harness) throw invalid(`${prefix}model`, 'is required without a harness');
  const names = servers.map(({ name }) => name);
  const used = new Set(tools.map((tool) => tool.type === 'mcp_toolset' && tool.mcp_server_name));
  for (const [index, server] of servers.entries()) {
    const at = `${prefix}mcp_servers[${index}]`;
    if (names.indexOf(server.name) !== index) throw invalid(`${at}.name`, 'is there twice');
    if (!used.has(server.name)) throw invalid(at, 'no mcp_toolset uses it');
    if (server.type !== 'stdio' || operator?.mcpServers.has(server.server) !== false) continue;
    throw undeclared(`${at}.server`, server.server, 'mcp_servers');
  }
  const custom = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const at = `${prefix}tools[${index}]`;
    if (tool.type === 'mcp_toolset' && !names.includes(tool.mcp_server_name)) {
      throw invalid(`${at}.mcp_server_name`, `no MCP server is named ${tool.mcp_server_name}`);
    }
    if (tool.type !== 'custom') continue;
    if (custom.has(tool.name)) throw invalid(`${at}.name`, 'is there twice');
    custom.add(tool.name);
  }
  if (operator) checkHarness(harness, `${prefix}harness`, operator);
}

/**
 * Refuses a harness of callers where the operator does not allow it (requirement
 * harness.declared-by-operator).
 */
function checkHarness(
  harness: AgentParts['harness'],
  param: string,
  { harnesses, harnessesInline }: OperatorNames,
): void {
  if (typeof harness === 'string') {
    if (!harnesses.has(harness)) throw undeclared(param, harness, 'harnesses');
  } else if (harness && harnessesInline !== true) {
    const message = `${param}: a command is taken only with server.harnesses_inline; name one of server.harnesses`;
    throw new GatewayError('unprocessable', { message, param });
  }
}

/** The Skills that the parts name. */
export function skillRefs(skills: AgentParts['skills'], prefix = ''): Reference[] {
  return skills.map((one, index) => ({
    kind: 'skill',
    target: one.skill_id,
    path: `${prefix}skills[${index}].skill_id`,
  }));
}

export function ownerRef({ organization }: Spec): Reference {
  return { kind: 'organization', target: String(organization), path: 'organization' };
}

function invalid(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${param}: ${what}`, param });
}

function undeclared(param: string, name: string, section: string): GatewayError {
  const message = `${param}: \`${name}\` is not declared in server.${section}`;
  return new GatewayError('unprocessable', { message, param });
}
