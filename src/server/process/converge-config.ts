import type { Origin } from '../../audit/audit-entry.ts';
import { converge } from '../../config/apply/converge.ts';
import type { ConvergeResult } from '../../config/apply/converge.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import type { Gateway } from '../compose/open-gateway.ts';
import { createResourceClient } from '../compose/resource-client.ts';
import { compareSecret } from '../secrets/compare-secrets.ts';

/** Makes the stored resources what the file declares; calls see all of it in one step. */
export async function convergeConfig(
  gateway: Pick<Gateway, 'repository' | 'hasher' | 'changeAtOnce'>,
  config: GatewayConfig,
): Promise<ConvergeResult> {
  return gateway.changeAtOnce(() =>
    converge({
      desired: config.desired,
      client: createResourceClient(gateway.repository, fileOrigin(config)),
      sources: config.sources,
      secretMatches: async (secret) => (await compareSecret(secret, gateway)).same,
    }),
  );
}

/** The files of the configuration, as the audit log names them. */
function fileOrigin({ files }: Pick<GatewayConfig, 'files'>): Origin {
  const name = files.length === 0 ? 'configuration' : files.join(', ');
  return {
    actor: { kind: 'file', id: null, name },
    from: { address: null, client: null },
    requestId: null,
  };
}
