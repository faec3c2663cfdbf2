import { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { FormPart } from '../core/form.ts';
import { applyPatches } from '../core/json/splice.ts';
import type { JsonPatch } from '../core/json/splice.ts';
import type { MediaResolver, RequestMedia } from '../inference/request-media.ts';
import type { RequestPeek, WireProtocol } from '../protocols/protocol.ts';
import { ASSET_MARK, scanRequest } from '../protocols/scan-request.ts';
import type { ProviderAccount } from '../providers/account.ts';
import {
  findAssetReferences,
  isMediaName,
  mentionsAsset,
  refused,
  toAssetUrl,
} from './asset-reference.ts';
import type { AssetReference } from './asset-reference.ts';
import type { AssetRecord, AssetRecords } from './asset-records.ts';
import type { MediaLinks } from './media-links.ts';
import type { Media, Registrar } from './registrar.ts';
import { needsBytes, substitute } from './write-media.ts';

/** More than any provider counts for one of them. */
const TOKENS_PER_ASSET = 16_384;

export interface MediaResolverDeps {
  readonly records: AssetRecords;
  registrarOf(asset: AssetRecord): Registrar;
  readonly links: MediaLinks;
  /** URL at which providers reach the gateway; undefined when they do not. */
  readonly publicUrl: string | undefined;
  /** Most bytes of a request whose media is in it. */
  readonly maxBodyBytes: number;
}

interface Named {
  readonly reference: AssetReference;
  readonly asset: AssetRecord;
}

/** Assets in the requests of the organization that has them (contract: Media assets). */
export function createMediaResolver(deps: MediaResolverDeps): MediaResolver {
  return {
    resolve(peek, { protocol, organization }) {
      const { form } = peek;
      const mayName = form
        ? form.parts.some(({ value }) => mentionsAsset(value))
        : peek.json.maySee(ASSET_MARK);
      if (!mayName) return undefined;
      const references = form
        ? form.parts.flatMap((part) => findAssetReferences(toMember(part)))
        : findAssetReferences(peek.json.value);
      return references.length === 0
        ? undefined
        : nameAll(references, organization, deps).then((named) =>
            createRequestMedia(named, { peek, protocol, deps }),
          );
    },
  };
}

/** A field of a form as a member of a JSON body. */
function toMember({ name, value }: FormPart): object {
  return value === undefined ? {} : { [name]: value };
}

/** Foreign and unknown are the same to the caller. */
async function nameAll(
  references: readonly AssetReference[],
  organization: string,
  { records }: MediaResolverDeps,
): Promise<Named[]> {
  return Promise.all(
    references.map(async (reference) => {
      const asset = await records.find(organization, reference.externalId);
      if (!asset) throw refused(reference.path, 'there is no such asset');
      return { reference, asset };
    }),
  );
}

interface Asked {
  readonly peek: RequestPeek;
  readonly protocol: WireProtocol;
  readonly deps: MediaResolverDeps;
}

function createRequestMedia(named: readonly Named[], asked: Asked): RequestMedia {
  const { deps } = asked;
  const tokens = named.length * TOKENS_PER_ASSET;
  const peek = { ...asked.peek, inputBound: asked.peek.inputBound + tokens };
  const opened = new Map<string, Promise<Media>>();
  const open = (one: Named): Promise<Media> => {
    const { externalId } = one.asset;
    const media = opened.get(externalId) ?? openMedia(one, deps);
    opened.set(externalId, media);
    return media;
  };
  return {
    peek,
    async peekFor(account) {
      const foreign = named.filter(({ asset }) => !isOwn(asset, account));
      if (foreign.length === 0) return peek;
      const own = { ...asked, peek };
      return peek.form
        ? {
            ...peek,
            form: { ...peek.form, parts: await withFiles(foreign, peek.form.parts, open) },
          }
        : withMedia(foreign, own, { open, account });
    },
  };
}

/** A provider knows the references that it gave out. */
function isOwn({ holder }: AssetRecord, account: ProviderAccount): boolean {
  return holder.by === 'provider' && holder.account === account.id;
}

async function openMedia(
  { asset, reference }: Named,
  { registrarOf }: MediaResolverDeps,
): Promise<Media> {
  const media = await registrarOf(asset).open(asset);
  if (media) return media;
  throw refused(reference.path, `the asset is not ready yet; GET /v1/assets/${asset.externalId}`);
}

interface Means {
  open(one: Named): Promise<Media>;
  account: ProviderAccount;
}

async function withMedia(
  named: readonly Named[],
  { peek, protocol, deps }: Asked,
  { open, account }: Means,
): Promise<RequestPeek> {
  const body = { text: peek.body.toString('latin1'), value: peek.json.value, protocol };
  const patches: JsonPatch[] = [];
  let size = peek.body.length;
  for (const one of named) {
    const { mediaType, content } = await open(one);
    const link = linkFor(one, account, deps);
    let data: string | undefined;
    if (link === undefined) {
      size += Math.ceil(content.length / 3) * 4;
      if (size > deps.maxBodyBytes) throw tooLarge(deps.maxBodyBytes);
      data = (await readWhole(content.open())).toString('base64');
    }
    patches.push(...substitute(body, one.reference, { mediaType, data, link }));
  }
  const written = applyPatches(
    peek.body,
    patches.toSorted((a, b) => a.start - b.start),
  );
  const json = scanRequest(written);
  return { ...peek, body: written, members: json.members, json };
}

/** Undefined where the provider has to get the bytes. */
function linkFor(
  { asset, reference }: Named,
  { fetchesMedia = false }: ProviderAccount,
  { links, publicUrl }: MediaResolverDeps,
): string | undefined {
  const isOurs = asset.holder.by === 'gateway';
  if (!fetchesMedia || !isOurs || publicUrl === undefined || needsBytes(reference))
    return undefined;
  return links.create(asset.externalId, publicUrl);
}

async function withFiles(
  named: readonly Named[],
  parts: readonly FormPart[],
  open: Means['open'],
): Promise<FormPart[]> {
  return Promise.all(
    parts.map(async (part): Promise<FormPart> => {
      const { name, value } = part;
      if (value === undefined || !isMediaName(name)) return part;
      const found = named.find(({ asset }) => value === toAssetUrl(asset.externalId));
      if (!found) return part;
      const { mediaType, content } = await open(found);
      const filename = found.asset.name ?? found.asset.externalId;
      return { name, filename, contentType: mediaType, content };
    }),
  );
}

async function readWhole(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of content) pieces.push(piece);
  } catch (cause) {
    throw new GatewayError('media_failed', { cause });
  }
  return Buffer.concat(pieces);
}

function tooLarge(limit: number): GatewayError {
  const message = `with the media that it names the request is larger than ${limit} bytes`;
  return new GatewayError('body_too_large', { message });
}
