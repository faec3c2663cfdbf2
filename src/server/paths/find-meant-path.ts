import { closestMatch } from 'leven';

/** Longer paths were not meant to be one that is served. */
const MAX_SEGMENTS = 32;
/** Segments of a wrong base address, such as `/api/v1`. */
const MAX_EXTRA = 3;
/** Letters that may be wrong in a misspelt path. */
const MAX_DISTANCE = 2;
const VERSIONS: readonly string[][] = [[], ['v1'], ['v1beta']];

export interface MeantPath {
  readonly path: string;
  /** Route that serves it, in the router's notation. */
  readonly route: string;
  /** True: the beginning is wrong, which comes from a wrong base address. */
  readonly isBase: boolean;
}

/**
 * Finds the served path that a wrong one was meant to be: with a beginning that is missing or too much
 * (`/chat/completions`, `/v1/v1/chat/completions`), with a part left out, or misspelt.
 *
 * @param routes in the router's notation
 */
export function createPathFinder(
  routes: readonly string[],
): (path: string) => MeantPath | undefined {
  // What matches by a pattern is another spelling of a path that is here.
  const served = routes
    .filter((route) => /^\/[^*:][^(]*$/.test(route))
    .map((route) => toSegments(route));
  const fixed = served.filter((route) => route.every((segment) => !isOpen(segment))).map(toPath);
  const serving = (segments: readonly string[]): readonly string[] | undefined =>
    served.find((route) => fits(route, segments));

  return (path) => {
    const segments = toSegments(path);
    if (segments.length === 0 || segments.length > MAX_SEGMENTS) return undefined;
    const candidates = VERSIONS.flatMap((version) =>
      Array.from({ length: Math.min(MAX_EXTRA + 1, segments.length) }, (_, extra) => [
        ...version,
        ...segments.slice(extra),
      ]),
    );
    for (const meant of candidates) {
      const route = serving(meant);
      if (route && toPath(meant) !== path)
        return { path: toPath(meant), route: toPath(route), isBase: true };
    }
    const end = `/${segments.at(-1)}`;
    const near =
      fixed.find((one) => one.endsWith(end)) ??
      closestMatch(toPath(segments), fixed, { maxDistance: MAX_DISTANCE });
    return near === undefined ? undefined : { path: near, route: near, isBase: false };
  };
}

const toSegments = (path: string): string[] => path.split('/').filter((segment) => segment !== '');
const toPath = (segments: readonly string[]): string => `/${segments.join('/')}`;
const isOpen = (segment: string): boolean => segment.startsWith(':') || segment.startsWith('**');

function fits(route: readonly string[], segments: readonly string[]): boolean {
  const isRest = route.at(-1)?.startsWith('**') === true;
  const length = isRest ? route.length - 1 : route.length;
  // The part that `**` matches is never empty here: the path without it is a route of its own.
  if (isRest ? segments.length <= length : segments.length !== length) return false;
  return route
    .slice(0, length)
    .every((segment, index) => isOpen(segment) || segment === segments[index]);
}
