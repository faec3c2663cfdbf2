import { isRecord } from '../../../client/http/guards.ts';
import {
  MCP_VERSION_MEMBER,
  mcpMetaOf,
  mcpNameOf,
  toHeaderText,
} from '../../../core/mcp/mcp-headers.ts';
import { runBridge } from '../../bridge/bridge.ts';
import type { BridgedProtocol } from '../../bridge/bridge.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'mcp'> = ({ args, context }) =>
  runBridge(context, args.service, createMcp());

/**
 * MCP over stdio. Up to 2025-11-25 the connection is the session, which has an id and a version towards the
 * Service; later messages are independent, and headers repeat some of their members.
 */
function createMcp(): BridgedProtocol {
  const headers: Record<string, string> = {};
  return {
    name: 'mcp',
    headers: (message) => headersOf(message) ?? headers,
    endsWithConnection: (message) => mcpMetaOf(message) !== undefined,
    onHead(head) {
      const session = head.get('mcp-session-id');
      if (session !== null) headers['mcp-session-id'] = session;
    },
    onMessage(message) {
      const result = isRecord(message) ? message['result'] : undefined;
      const version = isRecord(result) ? result['protocolVersion'] : undefined;
      if (typeof version === 'string') headers['mcp-protocol-version'] = version;
    },
    isOpen: () => 'mcp-session-id' in headers,
  };
}

/** Undefined for a message of a session. */
function headersOf(message: unknown): Record<string, string> | undefined {
  const meta = mcpMetaOf(message);
  if (!meta || !isRecord(message)) return undefined;
  const method = String(message['method']);
  const name = mcpNameOf(method, message['params']);
  return {
    'mcp-protocol-version': toHeaderText(String(meta[MCP_VERSION_MEMBER])),
    'mcp-method': toHeaderText(method),
    ...(name !== undefined && { 'mcp-name': toHeaderText(name) }),
  };
}
