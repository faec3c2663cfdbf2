import type { Origin } from '../../audit/audit-entry.ts';
import { converge } from '../../config/apply/converge.ts';
import type { Diagnostic } from '../../config/source/diagnostic.ts';
import { kindOf } from '../../config/objects/kinds.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import type { ReferenceSources } from '../../config/objects/references.ts';
import { hashesOf, readValues } from '../../resources/keys/key-values.ts';
import type { Gateway } from '../compose/open-gateway.ts';
import { createResourceClient } from '../compose/resource-client.ts';

/** Makes the stored resources what the file declares; calls see all of it in one step. */
export async function convergeConfig(
  gateway: Pick<Gateway, 'repository' | 'hasher' | 'changeAtOnce'>,
  config: GatewayConfig,
  sources: ReferenceSources,
): Promise<readonly Diagnostic[]> {
  const { repository, hasher } = gateway;
  const { diagnostics } = await gateway.changeAtOnce(() =>
    converge({
      desired: config.desired,
      client: createResourceClient(repository, fileOrigin(config)),
      sources,
      async secretMatches({ kind, id, field, value }) {
        const definition = repository.definitionOf(kindOf(kind).definition.kind);
        const stored = await repository.find(definition, id, { organization: null });
        if (!stored) return false;
        if (kind !== 'key') return repository.reveal(stored, field) === value;
        // A rotation replaces the value that the file declares, and the file need not follow.
        const had = new Set(hashesOf(readValues(stored.state)));
        return hasher.hashes(value).some((hash) => had.has(hash));
      },
    }),
  );
  return diagnostics;
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
