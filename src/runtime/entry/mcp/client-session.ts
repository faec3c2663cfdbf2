import type { EntryCall } from '../entry-call.ts';
import type { McpTransport, McpTransports, TransportOwner } from './mcp-transports.ts';
import { KNOWN_VERSIONS, MCP_VERSIONS } from './mcp-versions.ts';
import { Refusal, SESSION_NOT_FOUND } from './refusal.ts';

export function ownerOf({ service: { id, organization } }: EntryCall): TransportOwner {
  return { organization, endpoint: id };
}

/** Undefined for a client that names no session. */
export function sessionNamed({ exchange: { request } }: EntryCall): string | undefined {
  const id = request.headers['mcp-session-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** @throws Refusal 400 */
export function sessionIdOf(call: EntryCall): string {
  const id = sessionNamed(call);
  if (id !== undefined) return id;
  throw new Refusal(400, 'the header Mcp-Session-Id is required; initialize comes first');
}

/** @throws Refusal 400 */
export function checkVersion({ exchange: { request } }: EntryCall): void {
  const version = request.headers['mcp-protocol-version'];
  if (version === undefined || MCP_VERSIONS.includes(String(version))) return;
  const message = `unsupported MCP-Protocol-Version; known are ${KNOWN_VERSIONS.join(', ')}`;
  throw new Refusal(400, message);
}

/**
 * The session that the client continues.
 *
 * @throws Refusal 400 without one, or for an unknown revision; 404 for one that is not open
 */
export async function checkSession(
  call: EntryCall,
  transports: McpTransports,
): Promise<McpTransport> {
  checkVersion(call);
  const transport = await transports.use(sessionIdOf(call), ownerOf(call));
  if (!transport) throw unknownSession();
  return transport;
}

export function unknownSession(): Refusal {
  return new Refusal(404, 'session not found', { code: SESSION_NOT_FOUND });
}
