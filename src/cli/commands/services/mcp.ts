import { isRecord } from '../../../client/http/guards.ts';
import { runBridge } from '../../bridge/bridge.ts';
import type { BridgedProtocol } from '../../bridge/bridge.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'mcp'> = ({ args, context }) =>
  runBridge(context, args.service, createMcp());

/** MCP over stdio, where the connection is the session; towards the Service it has an id and a version. */
function createMcp(): BridgedProtocol {
  const headers: Record<string, string> = {};
  return {
    name: 'mcp',
    headers: () => headers,
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
