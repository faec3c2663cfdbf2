import { admit, enter, letIn } from './gate.ts';
import type { Admitted, GateDeps, KeyInUse, LetIn } from './gate.ts';
import type { HttpExchange } from './http-exchange.ts';
import { decideAll } from '../usage/rates/pending-claim.ts';

const BOUNDLESS: GateDeps['concurrency'] = { enter: () => () => undefined };

/** Admits the call of an exchange; every handler that a client may name calls of admits them so. */
export function admitCall(
  { begin }: Pick<HttpExchange, 'begin'>,
  inUse: KeyInUse,
  deps: GateDeps,
): Promise<Admitted> {
  return begin ? admitNamed(begin, inUse, deps) : admit(inUse.key, inUse.need, deps);
}

/**
 * Admits a call that its client named, which begins once its key is let in: nothing is read or kept for
 * one that is not. It takes its place in flight last, since a repeat waits for the call that holds it.
 */
export async function admitNamed(
  begin: NonNullable<HttpExchange['begin']>,
  { key, need }: KeyInUse,
  deps: GateDeps,
): Promise<LetIn> {
  const { principal, claims } = await letIn(key, need, { ...deps, concurrency: BOUNDLESS });
  await decideAll(claims);
  await begin(principal);
  return { principal, leave: await enter(principal, deps), claims: [] };
}
