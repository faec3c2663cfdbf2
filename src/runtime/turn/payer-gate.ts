import { admit, INFERENCE } from '../../surfaces/gate.ts';
import type { Admitted, GateDeps, KeyFound } from '../../surfaces/gate.ts';
import type { PayingKey } from '../../usage/principal.ts';

export interface PayerGateDeps extends Pick<GateDeps, 'rates' | 'concurrency'> {
  /** The key that pays, or the payer in its place, in its current state. */
  find(payer: PayingKey): KeyFound | Promise<KeyFound>;
}

/**
 * Lets the model calls of Sessions in as if their payer had made them: state of the key, rate and
 * concurrency limits. Scopes and roles do not count: what let the input in let its turn in.
 *
 * @throws GatewayError that of {@link admit}
 */
export function createPayerGate({
  find,
  rates,
  concurrency,
}: PayerGateDeps): (payer: PayingKey) => Promise<Admitted> {
  return (payer) => {
    const lookup = async (): Promise<KeyFound> => {
      const found = await find(payer);
      return typeof found === 'string' ? found : { ...found, scopes: null, role: null };
    };
    return admit(payer.keyId, INFERENCE, { lookup, rates, concurrency });
  };
}
