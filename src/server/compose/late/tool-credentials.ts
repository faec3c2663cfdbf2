import { agent as agents } from '../../../resources/kinds/agent.ts';
import { declaresServer } from '../../../resources/kinds/credential-targets.ts';
import { reportCredential, selectCredentials } from '../../../resources/kinds/select-credential.ts';
import type { CredentialDeps } from '../../../resources/kinds/select-credential.ts';
import type { ToolCredentials } from '../../../runtime/tools/tool-credentials.ts';
import type { AgentMcpServer } from '../../../sessions/resolved-agent.ts';
import type { Session } from '../../../sessions/session.ts';

/** Credentials of a Session's Agent whose `scope_name` names a server that the Agent declares. */
export function createToolCredentials(deps: CredentialDeps): ToolCredentials {
  return {
    async select(session, server) {
      const { organization, agent } = session;
      if (agent.id === null) return [];
      if (!(await isDeclared(session, server, deps))) return undefined;
      const query = { organization, agentId: agent.id, scopeName: server.name };
      return selectCredentials(query, deps);
    },
    report: ({ organization }, { id }, refused) =>
      reportCredential({ organization, id, refused }, deps),
  };
}

/**
 * False for a server of the Session or its Schedule: their creator may give any address, and
 * need not be allowed to keep Credentials.
 */
async function isDeclared(
  { organization, agent: { id, version } }: Pick<Session, 'organization' | 'agent'>,
  server: AgentMcpServer,
  { repository }: CredentialDeps,
): Promise<boolean> {
  if (id === null || version === null) return false;
  const stored = await repository.find(repository.definitionOf(agents.kind), id, { organization });
  const pinned = stored && (await repository.version(stored, version));
  return pinned !== undefined && declaresServer(pinned.spec, server);
}
