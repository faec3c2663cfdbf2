import { Buffer } from 'node:buffer';

/**
 * Pattern of paths of an API that may be called: segments, `*` for any one, a last `**` for any
 * rest.
 */
export type PathPattern = readonly string[];

/** Levels of percent-encoding that are undone in the search for steps out of a path. */
const MAX_LEVELS = 8;
const ANY_SEGMENT = '*';
const ANY_REST = '**';
// oxlint-disable-next-line no-control-regex -- control characters are the target
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Reads `/v1/search`, `/items/*` or `/files/**`; undefined for any other text. */
export function parsePathPattern(text: string): PathPattern | undefined {
  if (!/^\/[^\s?#\\%]*$/.test(text)) return undefined;
  const segments = text.slice(1).split('/');
  const isSound = segments.every(
    (segment, index) =>
      segment === ANY_SEGMENT ||
      (segment === ANY_REST && index === segments.length - 1) ||
      !(segment.includes('*') || isStep(segment)),
  );
  return isSound ? segments : undefined;
}

/**
 * True when a path, percent-encoded as it is sent, fits the pattern. Segments are compared decoded,
 * once; `*` takes none that an upstream could read as two.
 */
export function matchesPath(pattern: PathPattern, path: string): boolean {
  const segments = path.replace(/^\//, '').split('/');
  const isOpen = pattern.at(-1) === ANY_REST;
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  if (isOpen ? segments.length < fixed.length : segments.length !== fixed.length) return false;
  return fixed.every((expected, index) => {
    const segment = segments[index] ?? '';
    if (expected !== ANY_SEGMENT) return decode(segment) === expected;
    return segment !== '' && !/[/\\]/.test(decodeFully(segment));
  });
}

/**
 * True for a path that could lead out of its base by any reading: a `.` or `..` segment, also after encoded
 * slashes, backslashes, several levels of percent-encoding or path parameters (`..;a`), a control character, or
 * percent-encoding that is malformed. Below the first level a `%` may be text.
 */
export function mayLeave(path: string): boolean {
  return path.split('/').some((segment) => {
    if (decode(segment) === undefined) return true;
    let text = segment;
    for (let level = 0; level < MAX_LEVELS; level++) {
      if (CONTROL.test(text) || text.split(/[/\\]/).some(isStep)) return true;
      const next = decodeLeniently(text);
      if (next === text) return false;
      text = next;
    }
    return true;
  });
}

function isStep(part: string): boolean {
  return /^\s*\.{1,2}\s*(;|$)/.test(part);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Decodes percent-encoding and leaves the rest, as lenient readers do. */
function decodeLeniently(text: string): string {
  return text.replace(
    /(?:%[\da-f]{2})+/gi,
    (run) => decode(run) ?? Buffer.from(run.replaceAll('%', ''), 'hex').toString('latin1'),
  );
}

function decodeFully(segment: string): string {
  let text = segment;
  for (let level = 0; level < MAX_LEVELS; level++) {
    const next = decodeLeniently(text);
    if (next === text) return text;
    text = next;
  }
  return text;
}
