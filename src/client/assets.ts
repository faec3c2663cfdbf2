import { hasStrings } from './http/guards.ts';
import type { Http } from './http/http.ts';

/** A permanent reference to media, as the gateway shows it when it is made. */
export interface AssetView {
  id: string;
  /** `asset://…` */
  asset_url: string;
  asset_type: string;
  name: string | null;
  created_at: string;
  [field: string]: unknown;
}

export interface AssetDetails extends AssetView {
  external_id: string;
  /** The state at the keeper of the media. */
  status: string;
  /** Empty while there is none. */
  download_url: string;
}

export interface AssetInput {
  url: string;
  asset_type: string;
  name?: string | undefined;
}

/** Media of the key's organization; needs the scope `assets`. */
export interface AssetsClient {
  /** Never repeated. */
  create(input: AssetInput, signal?: AbortSignal): Promise<AssetView>;
  /** @param named the reference, or its part after `asset://` */
  get(named: string, signal?: AbortSignal): Promise<AssetDetails>;
}

const PATH = '/v1/assets';
const isAsset = hasStrings<AssetView>('id', 'asset_url', 'asset_type');
const isDetails = hasStrings<AssetDetails>('id', 'external_id', 'status', 'download_url');

export function createAssetsClient(http: Http): AssetsClient {
  return {
    async create(body, signal) {
      return (await http.json({ method: 'POST', path: PATH, body, signal }, isAsset)).body;
    },
    async get(named, signal) {
      const id = encodeURIComponent(named.replace(/^asset:\/\//, ''));
      return (await http.json({ method: 'GET', path: `${PATH}/${id}`, signal }, isDetails)).body;
    },
  };
}
