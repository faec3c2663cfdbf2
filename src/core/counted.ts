/** A number with its noun: `1 object`, `2 objects`; a plural that is not regular is given. */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}
