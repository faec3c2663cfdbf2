import type { Origin } from '../../audit/audit-entry.ts';
import type { Diagnostic } from '../../config/source/diagnostic.ts';
import { converge } from '../../config/apply/converge.ts';
import type { ConvergeResult } from '../../config/apply/converge.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import type { Gateway } from '../compose/open-gateway.ts';
import { createResourceClient } from '../compose/resource-client.ts';
import { compareSecret } from '../compose/compare-secrets.ts';

/** Makes the stored resources what the file declares; calls see all of it in one step. */
export async function convergeConfig(
  gateway: Pick<Gateway, 'repository' | 'hasher' | 'changeAtOnce'>,
  config: GatewayConfig,
): Promise<ConvergeResult> {
  const result = await gateway.changeAtOnce(() =>
    converge({
      desired: config.desired,
      client: createResourceClient(gateway.repository, fileOrigin(config)),
      sources: config.sources,
      secretMatches: async (secret) => (await compareSecret(secret, gateway)).same,
    }),
  );
  return { ...result, diagnostics: [...result.diagnostics, ...unshownValues(result, config)] };
}

const MOST_NAMES = 5;

/** Keys that were made without a declared value: a log must not hold the new ones. */
function unshownValues({ report }: ConvergeResult, { desired }: GatewayConfig): Diagnostic[] {
  const issued = new Set(
    (report?.issued ?? []).map(({ identity }) => identity.slice(identity.indexOf('/') + 1)),
  );
  const keys = desired.objects.filter(({ kind, name }) => kind === 'key' && issued.has(name));
  const [first] = keys;
  if (first === undefined) return [];
  const names = keys.map(({ name }) => name);
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return [
    {
      ...first.place,
      path: 'keys',
      severity: 'warning',
      message: `made without a declared value, and no value is shown: ${names.slice(0, MOST_NAMES).join(', ')}${more}`,
      hint: `\`gateway keys rotate ${first.name}\` prints a new value; or declare value: \${secret:env:NAME}`,
    },
  ];
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
