import { hostname, userInfo } from 'node:os';
import type { Origin } from '../../../audit/audit-entry.ts';
import { GatewayError } from '../../../core/errors.ts';
import { CliError } from '../../cli-error.ts';
import { withServer } from '../../local/store-work.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'store admin-key'> = (input) =>
  withServer(input, async (server, sources) => {
    const { makeAdminKey } = await import('../../../server/process/admin-key.ts');
    const { clock } = input.context;
    const made = await makeAdminKey({ server, sources, clock, by: origin() }).catch(toCliError);
    const { id, name, organization, file, keptFile, former } = made;
    return {
      data: {
        id,
        name,
        organization,
        file,
        former_file: keptFile ?? null,
        former: former.map((key) => ({
          id: key.id,
          name: key.name,
          hint: key.hint,
          created_at: key.createdAt,
        })),
      },
      text: [
        `${file}: the key ${name} of the organization ${organization}, with every scope`,
        ...(keptFile === undefined ? [] : [`The former file, of another store, is ${keptFile}.`]),
        ...former.map(
          ({ name: other, handle, hint, createdAt }) =>
            `The key ${other} (${hint}, of ${createdAt.slice(0, 10)}) is still valid; if its value is lost or in other hands: gateway keys revoke ${handle}`,
        ),
      ].join('\n'),
    };
  });

function origin(): Origin {
  return {
    actor: { kind: 'gateway', id: null, name: 'gateway store admin-key' },
    from: { address: null, client: `${userName()}@${hostname()}` },
    requestId: null,
  };
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

function toCliError(error: unknown): never {
  if (error instanceof GatewayError && error.code === 'conflict')
    throw new CliError({
      code: 'admin_key_valid',
      message: error.message,
      hint: 'commands on this machine find it by themselves; `gateway keys rotate` gives it a new value',
      exit: 'conflict',
    });
  throw error;
}
