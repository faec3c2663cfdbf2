import { GatewayError } from '../../core/errors.ts';
import { askProvider, wasGivenUp } from '../../inference/ask-provider.ts';
import type { ProviderAnswer } from '../../inference/ask-provider.ts';
import type { CallDeps } from '../../inference/run-call.ts';
import { buildUpstreamRequest } from '../../providers/build-request.ts';
import type { Catalog, Route } from '../../routing/catalog.ts';
import type { UpstreamRequest } from '../../upstream/transport.ts';
import { holderOf } from '../../usage/principal.ts';
import type { VideoRecord } from './video-records.ts';

const TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export interface AskDeps extends Pick<CallDeps, 'clock' | 'transportFor'> {
  catalog(): Catalog;
}

/** A route to the account that made the task, its own model's first. Throws `no_route_succeeded`. */
export function ownerOf({ answeredBy, account }: VideoRecord, { models }: Catalog): Route {
  const isOwner = (route: Route): boolean =>
    route.provider.id === account && route.protocols.has('videos');
  const own = models.get(answeredBy)?.routes.find(isOwner);
  if (own) return own;
  for (const { routes } of models.values()) {
    const found = routes.find(isOwner);
    if (found) return found;
  }
  const message = 'the provider that has this video is not available';
  throw new GatewayError('no_route_succeeded', { message });
}

/** What is asked of the task at the provider that has it. */
export interface Question {
  method: 'GET' | 'DELETE';
  /** Below the task. Default: the task itself. */
  below?: readonly string[];
  query?: string;
}

export function requestTo(
  { upstreamId, upstreamModel }: VideoRecord,
  { provider }: Route,
  { method, below = [], query }: Question,
): UpstreamRequest {
  return buildUpstreamRequest({
    account: provider,
    protocol: 'videos',
    upstreamModel,
    method,
    below: [upstreamId, ...below],
    ...(query === undefined ? {} : { query }),
    body: undefined,
    stream: false,
  });
}

/**
 * One question to the account that has the task.
 *
 * @throws GatewayError `no_route_succeeded`, `upstream_timeout`
 */
export async function askOwner(
  record: VideoRecord,
  method: Question['method'],
  { deps, signal }: { deps: AskDeps; signal?: AbortSignal | undefined },
): Promise<ProviderAnswer> {
  const route = ownerOf(record, deps.catalog());
  try {
    return await askProvider(requestTo(record, route, { method }), {
      transport: deps.transportFor(route.provider, holderOf(record.payer)),
      clock: deps.clock,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
      signal,
    });
  } catch (cause) {
    const code = wasGivenUp(cause) ? 'upstream_timeout' : 'no_route_succeeded';
    throw new GatewayError(code, { cause });
  }
}
