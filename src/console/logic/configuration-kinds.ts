import { DECLARED, KINDS } from '../../core/kinds.ts';

/** Kinds whose objects the Configuration page lists, by the last segment of their path, with their titles. */
export const CONFIGURATION_KINDS = DECLARED.map(
  (collection) => [collection, titleOf(KINDS[collection].word)] as const,
);

/** Title of many: `Aliases` of `alias`. */
function titleOf(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}${word.endsWith('s') ? 'es' : 's'}`;
}
