import type { ApiPath } from '../api/calls.ts';

/** Identity of a stream; what the queries of its tabs have in common is asked for. */
export interface Channel {
  readonly path: ApiPath<'GET'>;
  /** Id of the session of the page: tabs of two sessions may belong to two organizations. */
  readonly session: string;
}

/** A stream that a tab needs. */
export interface Want extends Channel {
  readonly query: Readonly<Record<string, string>>;
  /** Cursor up to which the tab has read; absent for a tab that has nothing. */
  readonly read?: Place | undefined;
}

/** A position in the events of one connection. */
export interface Place {
  readonly epoch: number;
  readonly seq: number;
}

export type LinkState = 'connecting' | 'live' | 'cut' | 'signed_out';

/** Message of a tab. `wants` is everything that the tab needs now; none while it is hidden. */
export interface TabMessage {
  readonly tab: string;
  readonly wants: readonly Want[];
}

/** Message to the tabs of a channel. */
export type HubMessage = Channel &
  (
    | {
        readonly type: 'event';
        readonly event: string;
        readonly data: unknown;
        readonly place: Place;
      }
    | { readonly type: 'reset'; readonly place: Place }
    | { readonly type: 'state'; readonly state: LinkState; readonly message?: string }
  );

export function isSameChannel(a: Channel, b: Channel): boolean {
  return a.path === b.path && a.session === b.session;
}
