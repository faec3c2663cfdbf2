import type { AgentMcpServer } from '../../sessions/resolved-agent.ts';
import type { Session } from '../../sessions/session.ts';

/** One secret for a server, chosen among those of its group. */
export interface ToolCredential {
  /** `sec_…` */
  readonly id: string;
  /** Name of the secret: a header of the server, or a variable of its process. */
  readonly name: string;
  readonly value: string;
}

/** The credentials that operators keep for the servers of an Agent (contract: Credentials). */
export interface ToolCredentials {
  /**
   * One of each group that is meant for the server; none of a group that cools down as a whole. Undefined for a
   * server that is not the Agent's own, which gets none.
   */
  select(session: Session, server: AgentMcpServer): Promise<readonly ToolCredential[] | undefined>;
  /** Keeps whether the server took it; one that it refused is not chosen again until it has cooled down. */
  report(session: Session, credential: ToolCredential, isRefused: boolean): Promise<void>;
}

/** Request headers that carry them. A name that is no header means a bearer token. */
export function toHeaders(credentials: readonly ToolCredential[]): Record<string, string> {
  return Object.fromEntries(
    credentials.map(({ name, value }) =>
      isHeaderName(name) ? [name.toLowerCase(), value] : ['authorization', `Bearer ${value}`],
    ),
  );
}

/** True for the name of a header; any other means a bearer token. */
export function isHeaderName(name: string): boolean {
  return /^(?:authorization|cookie|[a-z0-9]+(?:-[a-z0-9]+)+)$/i.test(name);
}
