import { GatewayError } from '../../core/errors.ts';

/** A store that fails is the contract's 500 here: the request could not be recorded. */
export function asPersistence(thrown: unknown): never {
  if (thrown instanceof GatewayError) throw thrown;
  throw new GatewayError('persistence_failed', { cause: thrown });
}
