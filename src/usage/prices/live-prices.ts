import type { Clock } from '../../core/time/clock.ts';
import { createPriceList } from './price-list.ts';
import type { ListedModel, PriceList } from './price-list.ts';
import type { Vendor } from './vendor-prices.ts';

export interface LivePricesDeps {
  clock: Pick<Clock, 'now'>;
  /** List that an administrator stored; undefined: none. */
  stored(): Promise<readonly Vendor[] | undefined>;
}

/** Prices of vendors, read when the first model needs them: most of the shipped ones are never read. */
export interface LivePrices {
  /** Reads the list unless it is there. Rejects with `StoreError`. */
  load(): Promise<void>;
  /** Reads the list again at the next `load`. */
  forget(): void;
  /** The model as it is listed today. Before `load` nothing is. */
  find(type: string, upstreamModel: string): ListedModel | undefined;
}

export function createLivePrices({ clock, stored }: LivePricesDeps): LivePrices {
  let list: Promise<PriceList> | undefined;
  let read: PriceList | undefined;
  const readList = async (): Promise<PriceList> => {
    const vendors = await stored();
    return vendors
      ? createPriceList((id) => vendors.find((one) => one.id === id))
      : shippedPrices();
  };
  return {
    async load() {
      list ??= readList();
      try {
        read = await list;
      } catch (thrown) {
        list = undefined;
        throw thrown;
      }
    },
    forget() {
      list = undefined;
    },
    find: (type, upstreamModel) => read?.find(type, upstreamModel, clock.now()),
  };
}

/** The list that comes with the gateway. */
export async function shippedPrices(): Promise<PriceList> {
  const { findProvider } = await import('@pydantic/genai-prices');
  return createPriceList((id) => findProvider({ providerId: id }));
}
