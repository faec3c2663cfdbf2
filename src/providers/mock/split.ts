/** Splits a text into at most `count` pieces of about one length, none empty, no character torn apart. */
export function splitInto(text: string, count: number): string[] {
  const characters = Array.from(text);
  const pieces = Math.min(count, characters.length);
  return Array.from({ length: pieces }, (_, i) =>
    characters
      .slice(
        Math.floor((i * characters.length) / pieces),
        Math.floor(((i + 1) * characters.length) / pieces),
      )
      .join(''),
  );
}

/** Words with the space that follows them, in at most `max` pieces. */
export function splitWords(text: string, max: number): string[] {
  const words = text.match(/^\s+|\S+\s*/g) ?? [];
  return words.length <= max ? words : splitInto(text, max);
}

/** Pieces of `size` bytes (the last may be shorter), at most `max`: the last takes the rest. */
export function splitBytes(bytes: Buffer, size: number, max: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    if (pieces.length === max - 1) return [...pieces, bytes.subarray(at)];
    pieces.push(bytes.subarray(at, at + size));
  }
  return pieces;
}
