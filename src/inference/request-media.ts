import type { RequestPeek, WireProtocol } from '../protocols/protocol.ts';
import type { ProviderAccount } from '../providers/account.ts';

/** The media that one request names by reference (contract: Media assets). */
export interface RequestMedia {
  /** The request as understood, with room for what its media may cost. */
  readonly peek: RequestPeek;
  /**
   * The request as this provider understands it: references that it gave out itself as they are, the
   * others as bytes or as links. Rejects with `invalid_request` for media that is not ready yet,
   * `body_too_large`, `media_failed`.
   */
  peekFor(account: ProviderAccount): Promise<RequestPeek>;
}

/** Knows the media of organizations. */
export interface MediaResolver {
  /**
   * Undefined, for next to nothing, when the request names none. Rejects with `invalid_request` and
   * the path for a reference that the organization does not have, whether another one has it or not.
   */
  resolve(
    peek: RequestPeek,
    caller: { protocol: WireProtocol; organization: string },
  ): Promise<RequestMedia> | undefined;
}
