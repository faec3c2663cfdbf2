import type { Clock } from '../core/time/clock.ts';
import { CLOCK_SLACK_MS } from '../core/time/deadline.ts';
import type { Signer } from '../core/seal.ts';

export const ASSETS_PATH = '/v1/assets';

/** Links to media that need no key: any holder of one reads that media, until it expires. */
export interface MediaLinks {
  /** @param origin scheme and host, and the path below which the gateway is reached */
  create(externalId: string, origin: string): string;
  /** Seconds for which the link still holds; undefined for one that does not, or never did. */
  secondsLeft(externalId: string, query: URLSearchParams): number | undefined;
}

export interface MediaLinksOptions {
  readonly signer: Signer;
  readonly clock: Clock;
  readonly lifetimeMs: number;
}

export function createMediaLinks({ signer, clock, lifetimeMs }: MediaLinksOptions): MediaLinks {
  const textOf = (externalId: string, expires: string): string => `${externalId}\n${expires}`;
  return {
    create(externalId, origin) {
      const expires = String(Math.ceil((clock.now() + lifetimeMs) / 1000));
      const signature = signer.sign(textOf(externalId, expires));
      const query = new URLSearchParams({ expires, signature }).toString();
      return `${origin}${ASSETS_PATH}/${externalId}/content?${query}`;
    },
    secondsLeft(externalId, query) {
      const expires = query.get('expires') ?? '';
      const isOurs = signer.verify(textOf(externalId, expires), query.get('signature') ?? '');
      const left = Number(expires) - clock.now() / 1000;
      // One of a clock that was ahead would hold longer than any other.
      const isInTime = left > 0 && left <= (lifetimeMs + CLOCK_SLACK_MS) / 1000;
      return isOurs && isInTime ? Math.floor(left) : undefined;
    },
  };
}
