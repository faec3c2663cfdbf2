import { runBridge } from '../../bridge/bridge.ts';
import type { BridgedProtocol } from '../../bridge/bridge.ts';
import type { RunOf } from '../../commands.ts';

/** Messages are independent. The client takes requests; its answers are messages as well. */
const ACP: BridgedProtocol = {
  name: 'acp',
  headers: () => ({ 'x-gateway-client-methods': 'session/request_permission' }),
  onHead: () => undefined,
  onMessage: () => undefined,
  isOpen: () => false,
};

export const run: RunOf<'acp'> = ({ args, context }) => runBridge(context, args.service, ACP);
