import type { Session } from '../../sessions/session.ts';
import type { AgentMcpServer } from '../../sessions/resolved-agent.ts';
import type { McpTransportDeps } from '../tools/mcp-transport.ts';
import { programSecrets } from '../tools/program-secrets.ts';
import { isSecretName } from '../process/secret-name.ts';
import { toHeaders } from '../tools/tool-credentials.ts';
import type { ToolCredentials } from '../tools/tool-credentials.ts';

/** A server of tools that a harness connects to by itself. */
export type HarnessMcpServer =
  | {
      readonly type: 'http';
      readonly name: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  | {
      readonly type: 'stdio';
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };

export interface HarnessServersDeps {
  readonly guard: Pick<McpTransportDeps['guard'], 'check'>;
  readonly stdioServers: McpTransportDeps['stdioServers'];
  readonly credentials: Pick<ToolCredentials, 'select'>;
}

/** The servers of a Session's Agent, with their credentials. */
export interface HarnessServers {
  readonly servers: readonly HarnessMcpServer[];
  /** Secrets of these servers that must not be shown. */
  readonly secrets: readonly string[];
  /** Names of those that must not or cannot be used. */
  readonly refused: readonly string[];
}

/** Looks every server up; addresses pass the guard when they are handed over. */
export async function findHarnessServers(
  session: Session,
  deps: HarnessServersDeps,
): Promise<HarnessServers> {
  const found = await Promise.all(
    session.agent.mcp_servers.map((declared) => findServer(session, declared, deps)),
  );
  return {
    servers: found.flatMap(({ server }) => server ?? []),
    secrets: found.flatMap(({ secrets }) => secrets),
    refused: found.flatMap(({ name, server }) => (server ? [] : [name])),
  };
}

interface Found {
  readonly name: string;
  readonly server: HarnessMcpServer | undefined;
  readonly secrets: readonly string[];
}

async function findServer(
  session: Session,
  declared: AgentMcpServer,
  { guard, stdioServers, credentials }: HarnessServersDeps,
): Promise<Found> {
  const { name } = declared;
  const chosen = (await credentials.select(session, declared)) ?? [];
  const secrets = chosen.map(({ value }) => value);
  if (declared.type === 'stdio') {
    const program = stdioServers.get(declared.server ?? '');
    if (!program) return { name, server: undefined, secrets };
    const { command, args = [], env } = program;
    const own = chosen.flatMap(({ name, value }) => (isSecretName(name) ? [[name, value]] : []));
    const variables = { ...env, ...(Object.fromEntries(own) as Record<string, string>) };
    return {
      name,
      secrets: [...secrets, ...programSecrets(program)],
      server: { type: 'stdio', name, command, args, env: variables },
    };
  }
  const url = await guard.check(declared.url ?? '').catch(() => undefined);
  if (!url) return { name, server: undefined, secrets };
  return {
    name,
    secrets,
    server: { type: 'http', name, url: url.href, headers: toHeaders(chosen) },
  };
}
