import { findConnection, isUnnamed, type Connection } from './connection.ts';
import type { ConnectOptions } from '../context.ts';
import { readContexts } from './contexts.ts';
import type { GlobalFlags } from '../grammar/global-flags.ts';
import type { CliIo } from '../io.ts';
import { pickTarget, withGiven } from './pick-target.ts';

/** Server and key of a command, from flags, environment, contexts and the project's files. */
export async function locateGateway(
  io: CliIo,
  globals: GlobalFlags,
  { near, keyRequired = true, given = {} }: ConnectOptions,
): Promise<Connection> {
  const sources = {
    ...pickTarget(withGiven(globals, given), await readContexts(io.env)),
    env: io.env,
    cwd: io.cwd,
    near,
    keyRequired,
  };
  const declared = isUnnamed(sources) ? await declaredGateway(io, globals, near) : undefined;
  return findConnection({ ...sources, declared });
}

async function declaredGateway(io: CliIo, { values }: GlobalFlags, near: string | undefined) {
  const { findDeclared } = await import('./declared-gateway.ts');
  return findDeclared(io, { near, envFile: !values['no-env-file'] });
}
