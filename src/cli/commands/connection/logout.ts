import { ClientError } from '../../../client/http/client-error.ts';
import type { CommandContext } from '../../context.ts';
import type { Context } from '../../connection/contexts.ts';
import {
  findContext,
  LOCAL,
  readContexts,
  withContext,
  writeContexts,
} from '../../connection/contexts.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'logout'> = async ({ context }) => {
  const { env } = context.io;
  const contexts = await readContexts(env);
  const name = context.globals.values.context ?? contexts.current ?? LOCAL;
  if (name === LOCAL) return { data: { context: null, removed: false }, text: 'not logged in' };
  const found = findContext(contexts, name);
  const { isSignIn = false, ...kept } = found;
  const removed = found.apiKey !== null;
  const revoked = removed && isSignIn && (await endSignIn(found, context));
  if (removed) await writeContexts(env, withContext(contexts, { ...kept, apiKey: null }));
  const done = revoked ? 'revoked and removed' : 'removed';
  const text = removed ? `${done} the key of ${name}` : `${name} has no key`;
  return { data: { context: name, removed }, text };
};

/** Revokes the key of a sign-in; false for one that has ended or, with a warning, only expires. */
async function endSignIn(
  { server, apiKey }: Pick<Context, 'server' | 'apiKey'>,
  context: CommandContext,
): Promise<boolean> {
  const client = await context.connectTo({ server, apiKey: apiKey ?? undefined });
  try {
    await client.raw({ method: 'DELETE', path: '/v1/account/sso/key', signal: context.signal });
    return true;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    // The key has ended already.
    if (error.status === 401) return false;
    context.output.warn(
      `the key could not be revoked and works until it expires: ${error.message}`,
    );
    return false;
  }
}
