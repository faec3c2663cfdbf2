import type { Buffer } from 'node:buffer';
import { drawFrom } from '../json/same-as-parse.ts';

/** The bytes in pieces that end at these places. */
export function cutAt(bytes: Buffer, places: Iterable<number>): Buffer[] {
  const ends = [...new Set([...places, bytes.length])].filter((at) => at > 0 && at <= bytes.length);
  ends.sort((one, other) => one - other);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** The bytes in pieces of one size, of which the first may be smaller. */
export function cutEvery(bytes: Buffer, size: number, first = size): Buffer[] {
  const places: number[] = [];
  for (let at = first; at < bytes.length; at += size) places.push(at);
  return cutAt(bytes, places);
}

/** Places behind the blank lines of an event stream. */
function bordersOf(bytes: Buffer): number[] {
  const ends = bytes.toString('latin1').matchAll(/(\r\n|\n|\r)\1/g);
  return [...ends].map(({ 0: blank, index }) => index + blank.length);
}

/** The same places at each call for bytes of one length. */
function drawnPlaces({ length }: Buffer): number[] {
  const draw = drawFrom(length);
  return Array.from({ length: 32 }, () => 1 + draw(length));
}

const AROUND = [-2, -1, 0, 1, 2];

/** Where a stream is cut off: around each border of its frames, and at 32 places of any kind. */
export function placesToCut(bytes: Buffer): number[] {
  const around = bordersOf(bytes).flatMap((border) => AROUND.map((shift) => border + shift));
  return [...around, ...drawnPlaces(bytes)].filter((at) => at < bytes.length);
}

/**
 * An event stream in pieces, for the readers of its frames: between empty pieces, as single bytes, cut at
 * each offset in one of 8 ways, at all borders of frames or up to two bytes from them, and at few places
 * of any kind. The framer itself is tested at each pair of offsets.
 */
export function waysToCut(bytes: Buffer): Buffer[][] {
  const borders = bordersOf(bytes);
  const drawn = drawnPlaces(bytes);
  const nothing = bytes.subarray(0, 0);
  return [
    [nothing, bytes, nothing],
    cutEvery(bytes, 1),
    ...Array.from({ length: 8 }, (_, first) => cutEvery(bytes, 8, first + 1)),
    ...AROUND.map((shift) =>
      cutAt(
        bytes,
        borders.map((border) => border + shift),
      ),
    ),
    ...[0, 8, 16, 24].map((at) => cutAt(bytes, drawn.slice(at, at + 8))),
  ];
}
