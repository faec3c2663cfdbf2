/**
 * True when one of the patterns names the model: literal text in which `*` stands for any run of
 * characters, `/` included. Linear in pattern and name, so a hostile pattern costs nothing.
 */
export function matchesModel(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, name));
}

function matchesPattern(pattern: string, name: string): boolean {
  const pieces = pattern.split('*');
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return first === name;
  const last = pieces.at(-1) ?? '';
  if (name.length < first.length + last.length) return false;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  const end = name.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
