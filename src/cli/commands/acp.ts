import { runBridge } from '../bridge.ts';
import type { BridgedProtocol } from '../bridge.ts';
import type { CommandRun } from '../command.ts';

/** Every message stands for itself. */
const ACP: BridgedProtocol = {
  name: 'acp',
  headers: () => ({}),
  onHead: () => undefined,
  onMessage: () => undefined,
  isOpen: () => false,
};

export const run: CommandRun = ({ args, context }) =>
  runBridge(context, args['service'] ?? '', ACP);
