/** Words that a shell takes as they are; it may expand one that begins with `=`. */
const PLAIN = /^(?!=)[\w./:@%+,=-]+$/;

/**
 * Text as one word of a POSIX shell: nothing in it is a command, a variable or a pattern when it is
 * pasted.
 */
export function toShellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Arguments of a command, none of which it takes for a flag; flags come before them. */
export function toShellArguments(...texts: readonly string[]): string {
  const words = texts.map(toShellWord).join(' ');
  return texts.some((text) => text.startsWith('-')) ? `-- ${words}` : words;
}
