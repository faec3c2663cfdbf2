import { admit } from '../surfaces/gate.ts';
import type { Admitted, GateDeps, KeyFound } from '../surfaces/gate.ts';
import type { PayingKey } from '../usage/principal.ts';

export interface PayerGateDeps extends Pick<GateDeps, 'rates' | 'concurrency'> {
  /** The key of that id as things stand now. */
  find(keyId: string): KeyFound | Promise<KeyFound>;
}

/**
 * Lets the model calls of Sessions in as if their payer had made them: state of the key, rate and
 * concurrency limits. Scopes do not count: what let the input in let its turn in.
 *
 * @throws GatewayError that of {@link admit}
 */
export function createPayerGate({
  find,
  rates,
  concurrency,
}: PayerGateDeps): (payer: PayingKey) => Promise<Admitted> {
  const lookup = async (keyId: string): Promise<KeyFound> => {
    const found = await find(keyId);
    return typeof found === 'string' ? found : { ...found, scopes: null };
  };
  return ({ keyId }) => admit(keyId, 'inference', { lookup, rates, concurrency });
}
