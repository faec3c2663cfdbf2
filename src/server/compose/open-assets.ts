import { createSigner } from '../../core/seal.ts';
import type { Spools } from '../../core/memory/spool.ts';
import type { CallDeps } from '../../inference/run-call.ts';
import type { MediaResolver } from '../../inference/request-media.ts';
import type { Store } from '../../store/store.ts';
import { createAssetHandlers } from '../../assets/asset-handlers.ts';
import type { AssetDeps } from '../../assets/asset-handlers.ts';
import { createAssetRecords } from '../../assets/asset-records.ts';
import type { AssetRecord } from '../../assets/asset-records.ts';
import { createGatewayRegistrar } from '../../assets/gateway-registrar.ts';
import { ASSETS_PATH, createMediaLinks } from '../../assets/media-links.ts';
import { openMediaMount } from '../../assets/media-mount.ts';
import { createMediaResolver } from '../../assets/media-resolver.ts';
import { createProviderRegistrar } from '../../assets/provider-registrar.ts';
import type { GateDeps } from '../../surfaces/gate.ts';
import { createUrlGuard } from '../../upstream/guard/url-guard.ts';
import type { GatewayOptions } from './gateway-options.ts';
import type { LiveResources } from './open-resources.ts';
import type { RouteSpec } from '../http/routes.ts';

export interface AssetsOptions
  extends
    Pick<GatewayOptions, 'proxies' | 'config' | 'clock' | 'ids' | 'masterKeys'>,
    GateDeps,
    Pick<CallDeps, 'transportFor'>,
    Pick<AssetDeps, 'repository'> {
  readonly resources: Pick<LiveResources, 'catalog'>;
  readonly spools: Spools;
}

/** Permanent references to media: who keeps it, and what becomes of requests that name it. */
export interface AssetsParts {
  readonly media: MediaResolver;
  readonly routes: readonly RouteSpec[];
  close(): Promise<void>;
}

/**
 * Rejects with `StoreError` when media cannot be kept where the configuration says, and with `Error`
 * for the memory of one process of several.
 */
export async function openAssets(store: Store, options: AssetsOptions): Promise<AssetsParts> {
  const { config, clock, masterKeys, resources } = options;
  const { provider, maxBytes, fetchTimeoutMs, linkLifetimeMs } = config.media;
  if (config.workers > 1 && config.media.store.driver === 'memory')
    throw new Error('server.media.driver memory belongs to one process; use fs, or workers: 1');
  const guard = createUrlGuard({ allow: config.outbound.allow, proxies: options.proxies });
  const mount = await openMediaMount(config.media.store, clock);
  const signer = createSigner(masterKeys, 'media link');
  const links = createMediaLinks({ signer, clock, lifetimeMs: linkLifetimeMs });
  const bounds = { guard, maxBytes, timeoutMs: fetchTimeoutMs };
  const ours = createGatewayRegistrar({ ...options, ...bounds, mount, links });
  const theirs = createProviderRegistrar(provider ?? '', {
    ...options,
    ...bounds,
    account: (idOrName) => resources.catalog.account(idOrName),
  });
  const shared = {
    ...options,
    records: createAssetRecords(store),
    registrar: provider === null ? ours : theirs,
    registrarOf: ({ holder }: AssetRecord) => (holder.by === 'gateway' ? ours : theirs),
    links,
    maxBodyBytes: config.limits.bodyBytes,
    resourceValues: config.limits.resourceValues,
  };
  const forProviders = config.media.publicUrl ?? undefined;
  const publicUrl = config.publicUrl ?? forProviders;
  const { create, get } = createAssetHandlers({ ...shared, publicUrl });
  return {
    media: createMediaResolver({ ...shared, publicUrl: forProviders }),
    routes: [
      { path: ASSETS_PATH, envelope: 'flat', methods: { POST: create } },
      { path: `${ASSETS_PATH}/**`, envelope: 'flat', methods: { GET: get, HEAD: get } },
    ],
    async close() {
      await guard.close();
      await mount.close();
    },
  };
}
