import { isUtf8 } from 'node:buffer';
import type { Buffer } from 'node:buffer';
import { readInstructions } from '../../resources/skills/load-skills.ts';
import { SKILL_SERVER } from '../../resources/kinds/agent-tools.ts';
import type { ResolvedAgent } from '../../sessions/resolved-agent.ts';
import type { SkillTitle } from '../turn/instructions.ts';
import { fromMcpResult, toFailedOutcome } from '../tools/tool-content.ts';
import type { ServerTool, ToolOutcome, ToolServer, ToolServers } from '../tools/tool-server.ts';
import { toVisibleName } from '../tools/visible-name.ts';

/** A Skill whose files can be read. */
export interface TurnSkill extends SkillTitle {
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Undefined when it was deleted meanwhile. */
  read(): Promise<readonly { readonly path: string; readonly bytes: Buffer }[] | undefined>;
}

const MAIN = 'SKILL.md';
/** Files that are named to the model. */
const MAX_NAMED = 100;

const LOAD_SKILL: ServerTool = {
  name: 'load_skill',
  description:
    'Reads a Skill: what it says, with the names of its other files, or one of these files.',
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Name of the Skill.' },
      path: { type: 'string', description: 'One of its files. Default: what the Skill says.' },
    },
    required: ['name'],
  },
  isReadOnly: true,
  isIdempotent: true,
};

/** The name by which the model calls the tool. */
export const SKILL_TOOL = toVisibleName(SKILL_SERVER, LOAD_SKILL.name);

/**
 * The Agent with the tool that its Skills are read by. It is shown as one of an MCP server: clients
 * take other calls for theirs to answer.
 */
export function withSkillTool(agent: ResolvedAgent, skills: readonly TurnSkill[]): ResolvedAgent {
  if (skills.length === 0) return agent;
  const always = { permission_policy: { type: 'always_allow' } } as const;
  const toolset = {
    type: 'mcp_toolset',
    mcp_server_name: SKILL_SERVER,
    default_config: always,
  } as const;
  return {
    ...agent,
    tools: [...agent.tools, toolset],
    mcp_servers: [...agent.mcp_servers, { type: 'stdio', name: SKILL_SERVER }],
  };
}

/** The servers, and the one of the Skills. */
export function withSkillServer(servers: ToolServers, skills: readonly TurnSkill[]): ToolServers {
  return {
    open: (session, declared) =>
      declared.name === SKILL_SERVER ? openSkills(skills) : servers.open(session, declared),
  };
}

function openSkills(skills: readonly TurnSkill[]): ToolServer {
  return {
    list: async () => [LOAD_SKILL],
    call: (_tool, input) => loadSkill(skills, input),
    close: async () => undefined,
  };
}

async function loadSkill(
  skills: readonly TurnSkill[],
  { name, path }: Readonly<Record<string, unknown>>,
): Promise<ToolOutcome> {
  const skill = skills.find((one) => one.name === name);
  const files = await skill?.read();
  if (!skill || !files) {
    const names = skills.map((one) => one.name).join(', ');
    return toFailedOutcome(`There is no such Skill. There are: ${names}`);
  }
  if (path === undefined || path === null || path === '')
    return tell([readInstructions(files), nameFiles(skill)].join('\n\n').trim());
  const wanted = typeof path === 'string' ? toPath(path, skill) : undefined;
  const file = files.find((one) => one.path === wanted);
  if (!file) return toFailedOutcome(`There is no such file.\n\n${nameFiles(skill)}`.trim());
  const { bytes } = file;
  const isText = isUtf8(bytes) && !bytes.includes(0);
  return tell(isText ? bytes.toString('utf8') : `(binary, ${bytes.length} bytes)`);
}

/** Models like to begin a path with the folder. */
function toPath(path: string, { name, files }: TurnSkill): string {
  const isThere = files.some((file) => file.path === path);
  return isThere ? path : path.replace(/^\.\//, '').replace(`${name}/`, '');
}

function nameFiles({ files }: TurnSkill): string {
  const others = files.filter(({ path }) => path !== MAIN);
  if (others.length === 0) return '';
  const lines = others.slice(0, MAX_NAMED).map(({ path, size }) => `- ${path} (${size} bytes)`);
  const more = others.length > MAX_NAMED ? [`- and ${others.length - MAX_NAMED} more`] : [];
  return ['Files of this Skill:', ...lines, ...more].join('\n');
}

function tell(text: string): ToolOutcome {
  return fromMcpResult({ content: [{ type: 'text', text }] });
}
