import { locateJson } from '../core/json/locate.ts';
import type { JsonPlace } from '../core/json/locate.ts';
import type { JsonPatch } from '../core/json/splice.ts';
import { isJsonObject } from '../core/json/value.ts';
import type { WireProtocol } from '../protocols/protocol.ts';
import type { AssetReference } from './asset-reference.ts';

/** Value that takes the place of a reference: base64, or a link. */
export interface Substitute {
  readonly mediaType: string;
  readonly data?: string | undefined;
  readonly link?: string | undefined;
}

/** A JSON body that names an asset. */
export interface ReferringBody {
  /** In latin1. */
  readonly text: string;
  readonly value: unknown;
  readonly protocol: WireProtocol;
}

/** Place of a reference, and the value around it. */
interface Spot {
  readonly name: string;
  readonly place: JsonPlace;
  /** The object that has the reference for a member, and where that stands. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly around: JsonPlace;
}

type Writer = (spot: Spot, media: Substitute) => JsonPatch[] | undefined;

/** The forms in which protocols take bytes in place of a URL; undefined: as data URLs. */
const WRITERS: Partial<Record<WireProtocol['id'], Writer>> = {
  messages({ members, around }, { mediaType, data }) {
    if (members['type'] !== 'url' || data === undefined) return undefined;
    const { url: _url, ...rest } = members;
    return [replace(around, { ...rest, type: 'base64', media_type: mediaType, data })];
  },
  'generate-content'(spot, { mediaType, data, link }) {
    const { name, around } = spot;
    if (name !== 'fileUri' && name !== 'file_uri') return undefined;
    if (data !== undefined)
      return [...rename(around, 'inlineData'), replace(around, { mimeType: mediaType, data })];
    const member = name === 'fileUri' ? 'mimeType' : 'mime_type';
    return [withType(spot, { value: link, member, mediaType })];
  },
  interactions(spot, { mediaType, data, link }) {
    if (spot.name !== 'uri') return undefined;
    const typed = withType(spot, { value: data ?? link, member: 'mime_type', mediaType });
    return data === undefined ? [typed] : [...rename(spot.place, 'data'), typed];
  },
};

/** The changes to a body that put media where it was named; all other bytes stay as they are. */
export function substitute(
  body: ReferringBody,
  reference: AssetReference,
  media: Substitute,
): JsonPatch[] {
  const spot = findSpot(body, reference);
  const written = WRITERS[body.protocol.id]?.(spot, media);
  if (written) return written;
  const { data, link, mediaType } = media;
  if (data === undefined) return [replace(spot.place, link)];
  const isBare = needsBytes(reference);
  return [replace(spot.place, isBare ? data : `data:${mediaType};base64,${data}`)];
}

/** True where only base64 is understood and no link will do. */
export function needsBytes({ path }: AssetReference): boolean {
  return path.at(-1) === 'data';
}

function findSpot({ text, value }: ReferringBody, { path }: AssetReference): Spot {
  const above = path.slice(0, -1);
  const [place, around] = [locateJson(text, path), locateJson(text, above)];
  if (!place || !around) throw new Error('a reference is not where it was found');
  const holder = above.reduce<unknown>(
    (one, step) => (one as Record<string | number, unknown>)[step],
    value,
  );
  const members = isJsonObject(holder) ? holder : {};
  return { name: String(path.at(-1)), place, members, around };
}

function replace({ start, end }: JsonPlace, value: unknown): JsonPatch {
  return { start, end, text: JSON.stringify(value) };
}

function rename({ key }: JsonPlace, to: string): JsonPatch[] {
  return key ? [{ ...key, text: JSON.stringify(to) }] : [];
}

/** The media type is told beside the value where the client did not. */
function withType(
  { place, members }: Spot,
  { value, member, mediaType }: { value: unknown; member: string; mediaType: string },
): JsonPatch {
  const patch = replace(place, value);
  if (typeof members[member] === 'string') return patch;
  return { ...patch, text: `${patch.text},"${member}":${JSON.stringify(mediaType)}` };
}
