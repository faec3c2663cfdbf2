import type { AuditLog } from '../audit/audit-log.ts';
import { changedFields } from '../audit/changed-fields.ts';
import { originOf } from '../audit/origin-of.ts';
import type { Use } from '../core/access.ts';
import { z } from 'zod';
import type { Clock } from '../core/time/clock.ts';
import { GatewayError } from '../core/errors.ts';
import type { IdSource } from '../core/ids.ts';
import { readInSlices } from '../core/json/json-document.ts';
import type { ValueBound } from '../core/json/json-document.ts';
import type { Principal } from '../usage/principal.ts';
import { readKey } from '../surfaces/carriers.ts';
import { clientAddress } from '../surfaces/client-origin.ts';
import type { PublicAddress } from '../surfaces/client-origin.ts';
import { admitCall } from '../surfaces/admit-call.ts';
import { admitToPlatform } from '../surfaces/gate.ts';
import type { GateDeps, KeyInUse } from '../surfaces/gate.ts';
import { onceClosed, watchClient } from '../surfaces/http-exchange.ts';
import type { Handler, HttpExchange } from '../surfaces/http-exchange.ts';
import { pathBelow } from '../surfaces/path-below.ts';
import { readBody } from '../surfaces/read-body.ts';
import { toAssetUrl } from './asset-reference.ts';
import type { AssetRecord, AssetRecords } from './asset-records.ts';
import { answerMedia } from './media-answer.ts';
import { ASSETS_PATH } from './media-links.ts';
import type { MediaLinks } from './media-links.ts';
import type { Registrar } from './registrar.ts';
import { ASSET_TYPES } from './sniff-media.ts';

export interface AssetDeps extends GateDeps, PublicAddress {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly records: AssetRecords;
  /** Keeps assets registered from now on. */
  readonly registrar: Registrar;
  registrarOf(asset: AssetRecord): Registrar;
  readonly links: MediaLinks;
  /** Most bytes of a request. */
  readonly maxBodyBytes: number;
  readonly resourceValues: ValueBound;
  readonly repository: { readonly audit: Pick<AuditLog, 'commit'> };
}

/** Permanent references to media (contract: Media assets). */
export interface AssetHandlers {
  /** `POST /v1/assets` */
  readonly create: Handler;
  /** `GET /v1/assets/{external_id}`, and its `/content` for bearers of a signed link. */
  readonly get: Handler;
}

const MAX_URL_CHARS = 8_192;
const MAX_NAME_CHARS = 256;

const newAsset = z.object({
  url: z.string('is required').min(1, 'is required').max(MAX_URL_CHARS, 'is too long'),
  asset_type: z.enum(ASSET_TYPES, {
    error: ({ input }) =>
      input === undefined ? 'is required' : `must be ${ASSET_TYPES.join(', ')}`,
  }),
  name: z.string('must be a text').min(1).max(MAX_NAME_CHARS, 'is too long').nullish(),
});

export function createAssetHandlers(deps: AssetDeps): AssetHandlers {
  const { records } = deps;
  return {
    create: (exchange) => create(exchange, deps),
    async get(exchange) {
      const [externalId = '', below, ...rest] = segmentsOf(exchange);
      if (below === 'content' && rest.length === 0) return sendContent(exchange, externalId, deps);
      const { organizationId } = await enter(exchange, 'content', deps);
      const asset =
        below === undefined ? await records.find(organizationId, externalId) : undefined;
      if (!asset) throw unknown();
      const { status, downloadUrl } = await deps
        .registrarOf(asset)
        .look(asset, clientAddress(exchange, deps));
      const { id, asset_url, asset_type, name, created_at } = toView(asset);
      return {
        status: 200,
        body: {
          id,
          external_id: asset.externalId,
          asset_url,
          status,
          asset_type,
          name,
          download_url: downloadUrl,
          created_at,
        },
      };
    },
  };
}

const create = async (exchange: HttpExchange, deps: AssetDeps): ReturnType<Handler> => {
  const { clock, ids, records, registrar, repository, maxBodyBytes, resourceValues: values } = deps;
  const principal = await enter(exchange, 'write', deps);
  const { organizationId: organization, keyId } = principal;
  const body = await readBody(exchange, { limit: maxBodyBytes, holder: keyId });
  const asked = parse(await readInSlices(body, { values }));
  const { url, asset_type: type } = asked;
  const name = asked.name ?? null;
  const signal = signalOf(exchange);
  const { named } = exchange;
  const { externalId, holder } = await registrar.register({
    url,
    type,
    name,
    organization,
    signal,
    before: async () => named?.willAct(),
  });
  const asset = {
    id: ids.next('asset'),
    externalId,
    organization,
    type,
    name,
    at: clock.now(),
    holder,
  };
  const reply = { status: 201, body: toView(asset) };
  try {
    await records.add(asset, (await named?.answered(reply)) ?? [], (ops) =>
      repository.audit.commit(ops, {
        origin: originOf(exchange, principal),
        action: 'create',
        object: { kind: 'asset', id: asset.id, name },
        organization,
        changes: changedFields({}, { external_id: externalId, type, name }),
      }),
    );
  } catch (error) {
    if (await hasNoRecord(asset, records))
      await registrar.forget(externalId, holder).catch(() => undefined);
    throw error;
  }
  return reply;
};

/** True where the asset was not noted: a commit that failed may have been made all the same. */
async function hasNoRecord(
  { organization, externalId }: AssetRecord,
  records: AssetRecords,
): Promise<boolean> {
  try {
    return (await records.find(organization, externalId)) === undefined;
  } catch {
    return false;
  }
}

async function sendContent(
  { request, search }: HttpExchange,
  externalId: string,
  { rates, links, records, registrarOf }: AssetDeps,
): ReturnType<Handler> {
  const secondsLeft = links.secondsLeft(externalId, new URLSearchParams(search));
  await admitToPlatform(rates, secondsLeft === undefined ? 'refused' : 'client');
  if (secondsLeft === undefined) throw new GatewayError('link_refused');
  const asset = await records.findHeld(externalId);
  const media = asset && (await registrarOf(asset).open(asset));
  if (!asset || !media) throw unknown();
  const { headers, method } = request;
  return answerMedia({ asset, media, headers, method, secondsLeft });
}

async function enter(exchange: HttpExchange, use: Use, deps: AssetDeps): Promise<Principal> {
  const { request, response, search } = exchange;
  const key = readKey(['bearer'], request.headers, search);
  const inUse: KeyInUse = { key, need: { scope: 'assets', use } };
  const { principal, leave } = await admitCall(exchange, inUse, deps);
  onceClosed(response, leave);
  return principal;
}

function parse(body: object): z.output<typeof newAsset> {
  const parsed = newAsset.safeParse(body);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const param = first?.path.join('.') ?? '';
  throw new GatewayError('invalid_request', { message: `\`${param}\` ${first?.message}`, param });
}

function toView({ id, externalId, type, name, at }: AssetRecord): {
  id: string;
  asset_url: string;
  asset_type: string;
  name: string | null;
  created_at: string;
} {
  return {
    id,
    asset_url: toAssetUrl(externalId),
    asset_type: type,
    name,
    created_at: new Date(at).toISOString(),
  };
}

function segmentsOf({ path }: HttpExchange): string[] {
  try {
    return pathBelow(path, ASSETS_PATH).split('/').map(decodeURIComponent);
  } catch {
    throw unknown();
  }
}

/** Returns a signal that ends a fetch when the client that asked for it leaves. */
function signalOf({ response }: HttpExchange): AbortSignal {
  const gone = new AbortController();
  const client = watchClient(response);
  if (client.gone) gone.abort();
  else client.onGone(() => gone.abort());
  return gone.signal;
}

function unknown(): GatewayError {
  return new GatewayError('not_found', { message: 'asset not found' });
}
