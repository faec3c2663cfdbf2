import { locateJson } from '../core/json/locate.ts';
import type { JsonPatch } from '../core/json/splice.ts';
import { isJsonObject } from '../core/json/value.ts';
import { replace } from '../protocols/media/write-media.ts';
import type { MediaSpot, Substitute } from '../protocols/media/write-media.ts';
import type { WireProtocol } from '../protocols/protocol.ts';
import type { AssetReference } from './asset-reference.ts';

/** A JSON body that names an asset. */
export interface ReferringBody {
  /** Body in latin1. */
  readonly text: string;
  readonly value: unknown;
  readonly protocol: WireProtocol;
}

/** The changes to a body that put media where it was named; all other bytes stay as they are. */
export function substitute(
  body: ReferringBody,
  reference: AssetReference,
  media: Substitute,
): JsonPatch[] {
  const spot = findSpot(body, reference);
  const written = body.protocol.writeMedia?.(spot, media);
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

function findSpot({ text, value }: ReferringBody, { path }: AssetReference): MediaSpot {
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
