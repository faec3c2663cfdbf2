import type { OperatorNames } from '../../resources/kinds/agent-fields.ts';
import type { ServerConfig } from './server-config.ts';

/** Names of the `server` section that Agents may use. */
export function operatorNames({
  harnesses,
  harnessesInline,
  mcpServers,
}: Pick<ServerConfig, 'harnesses' | 'harnessesInline' | 'mcpServers'>): OperatorNames {
  return {
    harnesses: new Set(Object.keys(harnesses)),
    harnessesInline,
    mcpServers: new Set(Object.keys(mcpServers)),
  };
}
