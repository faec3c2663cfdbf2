import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

/** zlib's deflate stream begins with this compression method in the low half of its first byte. */
const ZLIB_DEFLATE = 8;

/**
 * Content codings that {@link createDecoder} undoes. Node.js decodes each in slices of 16 KiB in a thread of
 * its own, so that a large result of a few bytes does not block other work.
 */
const CODINGS: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  // RFC 9110 means the zlib format, some servers send the bare one: the first byte shows which.
  deflate: (first) => ((first & 0x0f) === ZLIB_DEFLATE ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
};

/**
 * The `accept-encoding` of requests that name none: an answer as it is, which costs least, or in a
 * coding that can be undone, for servers that compress whatever they are asked.
 */
export const OFFERED_CODINGS = 'identity, gzip;q=0.2, deflate;q=0.2, br;q=0.2';

/** A stream that undoes one coding (RFC 9110, 8.4.1); `first` is the first byte of the body. */
export function createDecoder(encoding: string, first: number): Transform {
  const create = CODINGS[encoding];
  if (!create) throw new Error(`unknown content coding ${encoding}`);
  return create(first);
}

/** Codings of an answer; empty for one as it is, for `identity` is none (RFC 9110, 8.4). */
export function codingOf(header: string | string[] | undefined): string {
  const named = String(header ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim());
  return named.filter((coding) => coding !== '' && coding !== 'identity').join(', ');
}

/** Ways to read the body of an answer. */
export type Reading = 'as-it-is' | 'decode' | 'refuse';

/**
 * Judges the `content-encoding` of an answer by what its request offered. A coding that was not
 * offered is refused, and so is a list of several, which nothing here undoes.
 *
 * @param offered value of `accept-encoding`
 */
export function judgeCoding(coding: string | string[] | undefined, offered: string): Reading {
  const name = codingOf(coding);
  if (name === '') return 'as-it-is';
  if (!Object.hasOwn(CODINGS, name)) return 'refuse';
  return isOffered(name.replace(/^x-/, ''), offered) ? 'decode' : 'refuse';
}

function isOffered(name: string, offered: string): boolean {
  return offered
    .toLowerCase()
    .split(',')
    .map((item) => item.split(';').map((part) => part.trim()))
    .some(([coding, weight = '']) => {
      const isNamed = coding === '*' || coding?.replace(/^x-/, '') === name;
      return isNamed && !/^q=0(?:\.0*)?$/.test(weight);
    });
}
