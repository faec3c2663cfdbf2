/**
 * True when one of the patterns names the model: literal text in which `*` matches any run of characters, `/`
 * included. Linear in pattern and name, so a hostile pattern costs nothing.
 */
export function matchesModel(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, name));
}

/**
 * True for a key that may use a model under every one of these names: the one that was asked for and
 * the model's own. Null allows all.
 */
export function allowsModel(allowed: readonly string[] | null, names: Iterable<string>): boolean {
  if (allowed === null) return true;
  for (const name of names) if (!matchesModel(allowed, name)) return false;
  return true;
}

/** True for a name in which `*` matches other text. */
export function isPattern(name: string): boolean {
  return name.includes('*');
}

/** Text that the one `*` of a pattern matches in a name; undefined where they do not match. */
export function captureOf(pattern: string, name: string): string | undefined {
  const [before = '', after = ''] = pattern.split('*');
  const end = name.length - after.length;
  if (end < before.length || !name.startsWith(before) || !name.endsWith(after)) return undefined;
  return name.slice(before.length, end);
}

/** True when some name matches both patterns. */
export function canMeet(one: string, other: string): boolean {
  let reached = new Set([0]);
  // Positions in `other` after which the rest of `one` may begin.
  const widen = (positions: Set<number>): Set<number> => {
    for (const at of positions) if (other[at] === '*') positions.add(at + 1);
    return positions;
  };
  widen(reached);
  for (const char of one) {
    const next = new Set<number>();
    for (const at of reached) {
      if (char === '*') for (let to = at; to <= other.length; to++) next.add(to);
      else if (other[at] === '*') next.add(at);
      else if (other[at] === char) next.add(at + 1);
    }
    reached = widen(next);
  }
  return reached.has(other.length);
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
