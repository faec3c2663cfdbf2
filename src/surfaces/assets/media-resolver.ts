import { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import type { FormPart } from '../../core/form.ts';
import { scanJson } from '../../core/json-scan.ts';
import { applyPatches } from '../../core/json-splice.ts';
import type { MediaResolver, RequestMedia } from '../../inference/request-media.ts';
import type { RequestPeek, WireProtocol } from '../../protocols/protocol.ts';
import type { ProviderAccount } from '../../providers/account.ts';
import { findAssetReferences, isMediaName, mentionsAsset, refused } from './asset-reference.ts';
import type { AssetReference } from './asset-reference.ts';
import type { AssetRecord, AssetRecords } from './asset-records.ts';
import type { MediaLinks } from './media-links.ts';
import type { Media, Registrar } from './registrar.ts';
import { needsBytes, substitute } from './write-media.ts';
import type { Substitute } from './write-media.ts';

/** More than any provider counts for one of them. */
const TOKENS_PER_ASSET = 16_384;

export interface MediaResolverDeps {
  readonly records: AssetRecords;
  registrarOf(asset: AssetRecord): Registrar;
  readonly links: MediaLinks;
  /** Where providers reach the gateway; undefined when they do not. */
  readonly publicUrl: string | undefined;
  /** Of a request whose media is in it, in bytes. */
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
      if (
        !(form ? form.parts.some(({ value }) => mentionsAsset(value)) : mentionsAsset(peek.value))
      )
        return undefined;
      const references = form
        ? form.parts.flatMap((part) => findAssetReferences(toMember(part)))
        : findAssetReferences(peek.value);
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
  const body = { text: peek.body.toString('latin1'), value: peek.value, protocol };
  let size = peek.body.length;
  const patches = [];
  for (const one of named) {
    const link = account.fetchesMedia === true && !needsBytes(one.reference);
    const { mediaType, content } = await open(one);
    const media: Substitute =
      link && deps.publicUrl !== undefined && one.asset.holder.by === 'gateway'
        ? {
            mediaType,
            data: undefined,
            link: deps.links.create(one.asset.externalId, deps.publicUrl),
          }
        : { mediaType, data: '', link: '' };
    if (media.data === undefined) {
      patches.push(...substitute(body, one.reference, media));
      continue;
    }
    size += Math.ceil(content.length / 3) * 4;
    if (size > deps.maxBodyBytes) throw tooLarge(deps.maxBodyBytes);
    const bytes = await readWhole(content.open());
    patches.push(...substitute(body, one.reference, { ...media, data: bytes.toString('base64') }));
  }
  const written = applyPatches(
    peek.body,
    patches.toSorted((a, b) => a.start - b.start),
  );
  return { ...peek, body: written, ...scanJson(written) };
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
      const found = named.find(({ asset }) => value === `asset://${asset.externalId}`);
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
