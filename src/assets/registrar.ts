import type { SpooledBody } from '../core/memory/spooled-body.ts';
import type { AssetHolder, AssetRecord } from './asset-records.ts';
import type { AssetType } from './sniff-media.ts';

export interface Registration {
  readonly url: string;
  readonly type: AssetType;
  readonly name: string | null;
  readonly organization: string;
  /** Gives up when the client left. */
  readonly signal: AbortSignal;
  /** Waited for before any request to another party. */
  before?(): Promise<void>;
}

/** State of the media of an asset at the moment. */
export interface AssetState {
  /** The holder's own word. */
  readonly status: string;
  /** Empty while there is none. */
  readonly downloadUrl: string;
}

/** The bytes of an asset. */
export interface Media {
  readonly mediaType: string;
  readonly content: SpooledBody;
}

/** Keeper of media that gives out permanent references to it: a provider, or the gateway itself. */
export interface Registrar {
  /**
   * Rejects with `invalid_request` for a URL or media that is refused, `media_failed` when the media could not
   * be had, `no_credential`. A rejected one leaves no trace.
   */
  register(asked: Registration): Promise<{ externalId: string; holder: AssetHolder }>;
  /** Reverts a {@link register} whose result could not be noted. */
  forget(externalId: string, holder: AssetHolder): Promise<void>;
  /**
   * @param origin where the client reaches the gateway
   * @throws GatewayError `media_failed`
   */
  look(asset: AssetRecord, origin: string): Promise<AssetState>;
  /** Undefined while the media is not ready. Rejects with `media_failed`. */
  open(asset: AssetRecord): Promise<Media | undefined>;
}
