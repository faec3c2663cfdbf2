import { ClientError } from './http/client-error.ts';
import { streamedEvents } from './http/event-stream.ts';
import type { Guard } from './http/guards.ts';
import type { Http, HttpCall } from './http/http.ts';

/** Piece of the stream of requests. */
export interface RequestsEvent<Row> {
  /**
   * `rows`: new or changed ones, each in place of the former one of its id. `reset`: the next rows are
   * in place of all. `place`: nothing but {@link after}.
   */
  readonly type: 'rows' | 'reset' | 'place';
  readonly rows: readonly Row[];
  /** Cursor from which another stream continues without a gap; undefined before the first. */
  readonly after: string | undefined;
}

export interface FollowOptions {
  /** Cursor of the last event that came; without one the newest rows come first. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface FollowCall<Row> extends Required<Pick<HttpCall, 'path' | 'query'>> {
  readonly isRow: Guard<Row>;
}

/**
 * Follows requests as they begin and end, until the server or the signal ends it.
 *
 * @throws ClientError `connection_lost`, `invalid_response`
 */
export async function* followRequests<Row>(
  http: Http,
  { path, query, isRow }: FollowCall<Row>,
  { signal, ...options }: FollowOptions,
): AsyncGenerator<RequestsEvent<Row>, void, undefined> {
  let { after } = options;
  const headers = {
    accept: 'text/event-stream',
    ...(after !== undefined && { 'last-event-id': after }),
  };
  const call = { method: 'GET', path, query, headers, signal };
  const { body } = await http.stream(call);
  for await (const { event, id, data } of streamedEvents(body)) {
    after = id ?? after;
    if (data === undefined) yield { type: 'place', rows: [], after };
    else if (event === 'reset') yield { type: 'reset', rows: [], after };
    else if (event === 'requests') yield { type: 'rows', rows: toRows(data, isRow), after };
  }
}

function toRows<Row>(data: string, isRow: Guard<Row>): Row[] {
  const rows: unknown = JSON.parse(data);
  if (Array.isArray(rows) && rows.every((row) => isRow(row))) return rows;
  throw new ClientError({
    code: 'invalid_response',
    message: 'the stream has no rows of requests',
  });
}
