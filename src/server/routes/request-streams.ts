import { GatewayError } from '../../core/errors.ts';
import type { ActiveExchanges } from '../../inference/active-exchanges.ts';
import { createRelay } from '../../inference/relay.ts';
import type { CallResult } from '../../inference/types.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { admit } from '../../surfaces/gate.ts';
import type { KeyInUse, Scope } from '../../surfaces/gate.ts';
import { onceClosed } from '../../surfaces/http-exchange.ts';
import type { Handler, HttpExchange, Reply } from '../../surfaces/http-exchange.ts';
import { takeStreamPlace, watchKey } from '../../surfaces/standing-stream.ts';
import { RequestChannel } from '../../usage/requests/live/request-channel.ts';
import type { RequestView } from '../../usage/requests/live/request-change.ts';
import { RequestFeed } from '../../usage/requests/live/request-feed.ts';
import type { RequestFeedDeps } from '../../usage/requests/live/request-feed.ts';
import { followRequests } from '../../usage/requests/live/request-stream.ts';
import type { StreamSink } from '../../usage/requests/live/request-stream.ts';
import type { RequestFilter, RequestQuery } from '../../usage/requests/request-log.ts';
import { toExecution } from './account-handlers.ts';
import type { HandlersOf } from './lazy-routes.ts';
import { resourceCarriers } from './organization-routes.ts';
import type { OrganizationDeps } from './organization-routes.ts';
import type { REQUEST_STREAM_ROUTES } from './outlines.ts';
import { toRequestQuery } from './report-queries.ts';

export interface RequestStreamsDeps extends OrganizationDeps, RequestFeedDeps {
  /** Streams that a stop ends. */
  readonly followers: Pick<ActiveExchanges, 'add' | 'delete'>;
}

const DEFAULT_FIRST = 20;
const MAX_FIRST = 1_000;
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

const asIs: RequestView = (record) => record;
const asExecution: RequestView = (record) => toExecution(record);

/** Handlers of the streams of requests; all of one process share one feed. */
export function requestStreamHandlers(
  deps: RequestStreamsDeps,
): HandlersOf<typeof REQUEST_STREAM_ROUTES> {
  const channels = createChannels(deps);
  const carriers = resourceCarriers(deps);
  const to =
    (scope: Scope, own: boolean): Handler =>
    async (exchange) => {
      const { request, response, search } = exchange;
      const key = readKey(own ? carriers : ['bearer'], request.headers, search);
      const inUse: KeyInUse = { key, need: { scope, use: 'read' } };
      const admitted = await admit(key, inUse.need, deps);
      const { principal, leave } = admitted;
      onceClosed(response, leave);
      const query = toStreamQuery(search);
      const view = own ? asExecution : asIs;
      const filter = own
        ? { ...query.filter, organization: principal.organizationId, provider: undefined }
        : query.filter;
      if (request.method === 'HEAD') return { status: 200, headers: HEADERS };
      onceClosed(response, await takeStreamPlace(admitted, deps));
      const channel = channels(filter, view);
      return follow(exchange, { ...deps, ...query, channel, filter, view, inUse });
    };
  return { followAll: to('admin', false), followOwn: to('account', true) };
}

type FollowOptions = RequestStreamsDeps & {
  readonly channel: RequestChannel;
  readonly filter: RequestFilter;
  readonly view: RequestView;
  readonly limit: number;
  readonly inUse: KeyInUse;
};

function follow({ request, response }: HttpExchange, options: FollowOptions): Reply | CallResult {
  const { clock, followers, onFollowError } = options;
  const gone = new AbortController();
  const { signal } = gone;
  const rooms = new Set<() => void>();
  const relay = createRelay({ clock, onDrain: () => rooms.forEach((tell) => tell()) });
  const sink: StreamSink = {
    write: (bytes) => relay.write(bytes),
    onRoom: (listener) => void rooms.add(listener),
    signal,
  };
  const member = { shutDown: () => gone.abort() };
  onceClosed(response, member.shutDown);
  const forget = watchKey(member.shutDown, options.inUse, options);
  followers.add(member);
  const after = request.headers['last-event-id']?.toString() || undefined;
  followRequests({ ...options, after, sink })
    .catch(onFollowError)
    .finally(() => {
      forget();
      followers.delete(member);
      gone.abort();
      // A client that is cut off asks again, with the id of the last event that it received.
      relay.end();
    });
  return { type: 'stream', status: 200, headers: HEADERS, body: relay.body };
}

/** One channel for all clients with the same filter and view, for as long as it has a follower. */
function createChannels(
  deps: RequestFeedDeps,
): (filter: RequestFilter, view: RequestView) => RequestChannel {
  const feed = new RequestFeed(deps);
  const channels = new Map<string, RequestChannel>();
  return (filter, view) => {
    for (const [name, channel] of channels) if (!channel.isUsed) channels.delete(name);
    const name = JSON.stringify([filter, view === asIs]);
    const known = channels.get(name);
    if (known) return known;
    const channel = new RequestChannel({ feed, clock: deps.clock, filter, view });
    channels.set(name, channel);
    return channel;
  };
}

function toStreamQuery(search: string): { filter: RequestFilter; limit: number } {
  const query = new URLSearchParams(search);
  const isFirst = query.get('limit') === '0';
  if (isFirst) query.delete('limit');
  const { limit, page, ...filter }: RequestQuery = toRequestQuery(query.toString());
  if (page !== undefined)
    throw new GatewayError('invalid_request', {
      message: 'page: a stream has no pages; go on with the header Last-Event-ID',
      param: 'page',
    });
  return { filter, limit: isFirst ? 0 : Math.min(limit ?? DEFAULT_FIRST, MAX_FIRST) };
}
