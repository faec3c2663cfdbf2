/** 64 bits where each is a digit of a hexadecimal number. */
const FEWEST_CHARACTERS = 16;
/** Fewer than 4 in 100,000 random keys of 16 hexadecimal digits have less. */
const FEWEST_DIFFERENT = 6;

/** What to do about a weak key on a store that is in use. */
export const ROTATE_MASTER_KEY =
  'make another with `openssl rand -hex 32`, set server.secrets.master_key to it, list the present key under server.secrets.previous_keys, and restart';

/**
 * Reason why a key that people chose is easy to guess, in words; undefined for any key of 16 or more random
 * digits and any passphrase of four words.
 */
export function weaknessOf(key: string): string | undefined {
  const characters = Array.from(key);
  const { length } = characters;
  if (length < FEWEST_CHARACTERS)
    return `it has ${length} characters of at least ${FEWEST_CHARACTERS}`;
  const different = new Set(characters).size;
  if (different < FEWEST_DIFFERENT)
    return `only ${different} of its characters are different, of at least ${FEWEST_DIFFERENT}`;
  if (isRepeated(key)) return 'it is one word again and again';
  if (isSeries(characters)) return 'it is a series of neighbouring characters';
  return undefined;
}

/** True for `changeme-changeme`: it is its own continuation. */
function isRepeated(key: string): boolean {
  for (let unit = 1; unit <= (key.length + 1) / 2; unit++)
    if (key.slice(unit) === key.slice(0, key.length - unit)) return true;
  return false;
}

/** True where more than half of its steps are the same one of -1, 0 and 1, as in `0123456789abcdef`. */
function isSeries(characters: readonly string[]): boolean {
  const codes = characters.map((one) => one.codePointAt(0) ?? 0);
  const steps = codes.slice(1).map((code, index) => code - (codes[index] ?? 0));
  return [-1, 0, 1].some((step) => steps.filter((one) => one === step).length > steps.length / 2);
}
