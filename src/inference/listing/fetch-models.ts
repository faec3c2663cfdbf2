import { parseJson } from '../../core/json/value.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { ProviderAccount } from '../../providers/account.ts';
import { ENDPOINT_RULES } from '../../providers/endpoint-rules.ts';
import type { ListedModel } from '../../providers/listing/listed-model.ts';
import type { ModelListing } from '../../providers/listing/model-listing.ts';
import { readModelPage } from '../../providers/listing/read-model-list.ts';
import { prepareAddress } from '../../providers/prepare-endpoint.ts';
import type { Transport, UpstreamRequest } from '../../upstream/transport.ts';
import { askProvider } from '../ask-provider.ts';

/** Most models of one provider that are kept. */
export const MAX_LISTED = 5_000;
const MAX_PAGES = 25;
const MAX_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 15_000;

export interface FetchModelsDeps {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks a provider for the models that it serves: the first 5,000, by name. Rejects with
 * `UpstreamError`, and with `Error` for an answer that is no list.
 */
export async function fetchModels(
  account: ProviderAccount,
  listing: ModelListing,
  deps: FetchModelsDeps,
): Promise<ListedModel[]> {
  const found = new Map<string, ListedModel>();
  let begin: string | undefined;
  for (let pages = 0; pages < MAX_PAGES && found.size < MAX_LISTED; pages++) {
    const request = toRequest(account, listing, begin);
    const answer = await askProvider(request, {
      ...deps,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    if (answer.status !== 200) throw new Error(`the provider answered ${answer.status}`);
    const page = readModelPage(parseJson(answer.body.toString('utf8')), listing);
    if (!page) throw new Error('the answer is no list of models');
    for (const model of page.models) if (found.size < MAX_LISTED) found.set(model.name, model);
    if (page.next === undefined || page.next === begin) break;
    begin = page.next;
  }
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function toRequest(
  account: ProviderAccount,
  { path, query, headersOf, next }: ModelListing,
  begin: string | undefined,
): UpstreamRequest {
  const { address, search, headers } = prepareAddress(account, { path });
  const url = new URL(address + search);
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
  if (next && begin !== undefined) url.searchParams.set(next.parameter, begin);
  const own = headersOf && ENDPOINT_RULES[headersOf].headers?.toHeaders(account, {});
  return {
    url,
    method: 'GET',
    headers: [...headers, ...(own ?? []), 'accept', 'application/json'],
    body: undefined,
  };
}
