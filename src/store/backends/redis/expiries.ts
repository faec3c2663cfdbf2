import type { RemoteExpiries } from '../../remote-expiries.ts';
import { expiryText } from './expiry-text.ts';
import type { SCRIPTS } from './scripts.ts';

type Call = (name: keyof typeof SCRIPTS, args: (string | Buffer | number)[]) => Promise<unknown>;

export function createExpiries(call: Call): RemoteExpiries {
  return {
    async list({ from, skip, limit }) {
      const flat = (await call('storeExpiring', [from, skip, limit])) as Buffer[];
      return Array.from({ length: flat.length / 2 }, (_, index) => ({
        bytes: flat[2 * index]!,
        expiresAt: Number(flat[2 * index + 1]!.toString()),
      }));
    },
    async change(changes) {
      const args = changes.flatMap(({ bytes, before, expiresAt }) => [
        bytes,
        expiryText(before),
        expiryText(expiresAt),
      ]);
      await call('storeCorrect', args);
    },
  };
}
