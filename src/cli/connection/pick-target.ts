import { usageError } from '../cli-error.ts';
import { normaliseServer } from './connection.ts';
import { findContext, LOCAL, type Context, type Contexts } from './contexts.ts';
import type { Layer } from '../grammar/flags.ts';
import type { GlobalFlags } from '../grammar/global-flags.ts';

/** Address, context and key file that count for a command. */
export interface Target {
  apiKeyFile: string | undefined;
  apiKeyFileIsFlag: boolean;
  server: string | undefined;
  serverOrigin: string | undefined;
  context: Context | undefined;
  contextIsNamedByFlag: boolean;
}

const STRENGTH: readonly Layer[] = ['flag', 'env', 'project', 'user', 'system', 'default'];

/**
 * Picks the address or the context from the stronger layer, never a mixture; the context that
 * `use-context` chose is as strong as the user's settings, and weaker than what these name. Two of
 * one layer that differ are a usage error (exit 64), and so is a context that does not exist.
 */
export function pickTarget(globals: GlobalFlags, contexts: Contexts): Target {
  const named = globals.values.context;
  const name = named ?? contexts.current ?? LOCAL;
  const contextLayer = globals.origin('context')?.layer ?? 'user';
  const contextIsNamedByFlag = contextLayer === 'flag';
  const server = globals.values.server;
  const { layer = 'default', text: serverOrigin } = globals.origin('server') ?? {};
  const only = (context: Context | undefined): Target => ({
    server: undefined,
    serverOrigin: undefined,
    context,
    contextIsNamedByFlag,
    apiKeyFile: globals.values['api-key-file'],
    apiKeyFileIsFlag: globals.origin('api-key-file')?.layer === 'flag',
  });
  const [forServer, forContext] = [STRENGTH.indexOf(layer), STRENGTH.indexOf(contextLayer)];
  const isServerWeaker =
    server === undefined || (forContext < forServer && (named ?? contexts.current) !== null);
  if (isServerWeaker) return only(name === LOCAL ? undefined : findContext(contexts, name));
  const known = contexts.list.find((context) => context.name === name);
  const isSame = known?.server === normaliseServer(server);
  if (named !== undefined && forServer === forContext && !isSame) {
    const where = known?.server ?? 'another';
    throw usageError(
      `${serverOrigin} and the context ${name} name different servers`,
      `leave out one of them; the server of ${name} is ${where}`,
    );
  }
  return { ...only(isSame ? known : undefined), server, serverOrigin };
}

/** The same flags with values that a command got in another way, as strong as those of the command line. */
export function withGiven(
  globals: GlobalFlags,
  given: Readonly<Record<string, string>>,
): GlobalFlags {
  return {
    ...globals,
    values: { ...globals.values, ...given },
    origin: (name) =>
      given[name] === undefined ? globals.origin(name) : { layer: 'flag', text: `--${name}` },
  };
}
