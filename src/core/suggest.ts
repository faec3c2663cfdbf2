import { closestMatch } from 'leven';

const MAX_LISTED = 16;

/** "did you mean …", or the names there are when nothing is near and they are few. */
export function suggest(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const maxDistance = Math.max(2, Math.floor(name.length / 3));
  const near = closestMatch(name, known, { maxDistance });
  if (near !== undefined) return `did you mean ${near}?`;
  return known.length > MAX_LISTED ? undefined : `known: ${known.join(', ')}`;
}
