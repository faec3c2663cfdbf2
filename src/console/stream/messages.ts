import type { ApiPath } from '../api/calls.ts';

/** A stream that a tab needs. */
export interface Want {
  /** Streams of the same path are one; what their queries have in common is asked for. */
  readonly path: ApiPath<'GET'>;
  readonly query: Readonly<Record<string, string>>;
  /** Place up to which the tab has read; absent for a tab that has nothing. */
  readonly read?: Place | undefined;
}

/** A place in what one connection has brought. */
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

/** Message to tabs. */
export type HubMessage =
  | {
      readonly type: 'event';
      readonly path: string;
      readonly event: string;
      readonly data: unknown;
      readonly place: Place;
    }
  | { readonly type: 'reset'; readonly path: string; readonly place: Place }
  | {
      readonly type: 'state';
      readonly path: string;
      readonly state: LinkState;
      readonly message?: string;
    };
