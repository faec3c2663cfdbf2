import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { GatewayError } from '../core/errors.ts';
import type { IdSource } from '../core/ids.ts';
import type { Spools } from '../core/memory/spool.ts';
import { guardedFetch, UrlFetchError } from '../upstream/guard/guarded-fetch.ts';
import { UrlGuardError } from '../upstream/guard/url-guard-error.ts';
import type { UrlGuard } from '../upstream/guard/url-guard.ts';
import type { AssetHolder } from './asset-records.ts';
import type { MediaLinks } from './media-links.ts';
import type { MediaMount } from './media-mount.ts';
import type { Registrar, Registration } from './registrar.ts';
import { sniffMedia, SNIFFED_BYTES } from './sniff-media.ts';

export interface GatewayRegistrarDeps {
  readonly guard: UrlGuard;
  readonly spools: Spools;
  readonly ids: IdSource;
  readonly mount: MediaMount;
  readonly links: MediaLinks;
  /** Most bytes of one asset. */
  readonly maxBytes: number;
  /** Time to fetch one, redirects included. */
  readonly timeoutMs: number;
}

/** Media that is there is ready. */
const STATUS = 'Active';

/** The gateway keeps the media itself: fetched once when it is registered, and the same ever after. */
export function createGatewayRegistrar(deps: GatewayRegistrarDeps): Registrar {
  const { ids, mount, links } = deps;
  return {
    async register(asked) {
      const spool = deps.spools.create();
      try {
        const hash = createHash('sha256');
        await fetchMedia(asked, deps, async (chunk) => {
          hash.update(chunk);
          await spool.write(chunk);
        });
        const mediaType = await typeOf(spool, asked);
        const externalId = ids.next('media');
        const { length: size } = spool;
        const holder: AssetHolder = { by: 'gateway', mediaType, size, digest: hash.digest('hex') };
        await mount.write(externalId, spool).catch(asFailed);
        return { externalId, holder };
      } finally {
        await spool.dispose();
      }
    },
    async forget(externalId, holder) {
      if (holder.by === 'gateway') await mount.remove(externalId, holder.size);
    },
    look: async ({ externalId }, origin) => ({
      status: STATUS,
      downloadUrl: links.create(externalId, origin),
    }),
    async open({ externalId, holder }) {
      if (holder.by !== 'gateway') return undefined;
      return { mediaType: holder.mediaType, content: mount.read(externalId, holder.size) };
    },
  };
}

async function fetchMedia(
  { url, signal }: Registration,
  { guard, maxBytes, timeoutMs }: GatewayRegistrarDeps,
  take: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  const headers = { accept: '*/*' };
  const options = { headers, maxBytes, timeoutMs, signal, take };
  const { status } = await guardedFetch(guard, url, options).catch((error: unknown) =>
    toRefusal(error, maxBytes),
  );
  if (status < 200 || status > 299) throw failed(`the host of the media answered ${status}`);
}

function toRefusal(error: unknown, maxBytes: number): never {
  if (error instanceof UrlGuardError) throw invalid('url', error.message);
  if (!(error instanceof UrlFetchError)) throw error;
  if (error.reason === 'too_large')
    throw invalid('url', `the media is larger than the limit of ${maxBytes} bytes`);
  throw failed(`the media could not be fetched: ${error.message}`);
}

async function typeOf(
  spool: { open(start?: number, end?: number): AsyncIterable<Buffer> },
  { type }: Registration,
): Promise<string> {
  const beginning: Buffer[] = [];
  for await (const piece of spool.open(0, SNIFFED_BYTES)) beginning.push(piece);
  const found = sniffMedia(Buffer.concat(beginning), type);
  if (found !== undefined) return found;
  throw invalid('asset_type', `the bytes at the url are no ${type} of a known format`);
}

function asFailed(cause: unknown): never {
  throw new GatewayError('media_failed', { message: 'the media could not be stored', cause });
}

function failed(message: string): GatewayError {
  return new GatewayError('media_failed', { message });
}

function invalid(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${param}: ${what}`, param });
}
