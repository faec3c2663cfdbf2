import type { JsonPlace } from '../../core/json/locate.ts';
import type { JsonPatch } from '../../core/json/splice.ts';

/** Value that takes the place of a reference: base64, or a link. */
export interface Substitute {
  readonly mediaType: string;
  readonly data?: string | undefined;
  readonly link?: string | undefined;
}

/** Position of a reference, and the value around it. */
export interface MediaSpot {
  readonly name: string;
  readonly place: JsonPlace;
  /** The object that has the reference as a member, and its position. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly around: JsonPlace;
}

/** Puts media where a request refers to it; undefined: its bytes are a data URL. */
export type MediaWriter = (spot: MediaSpot, media: Substitute) => JsonPatch[] | undefined;

export function replace({ start, end }: JsonPlace, value: unknown): JsonPatch {
  return { start, end, text: JSON.stringify(value) };
}

export function rename({ key }: JsonPlace, to: string): JsonPatch[] {
  return key ? [{ ...key, text: JSON.stringify(to) }] : [];
}

/** Adds the media type next to the value where the client sent none. */
export function withType(
  { place, members }: MediaSpot,
  { value, member, mediaType }: { value: unknown; member: string; mediaType: string },
): JsonPatch {
  const patch = replace(place, value);
  if (typeof members[member] === 'string') return patch;
  return { ...patch, text: `${patch.text},"${member}":${JSON.stringify(mediaType)}` };
}
