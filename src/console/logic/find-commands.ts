/** Items whose title or command line holds the letters in their order, the tightest first. */
export function findCommands<Item extends { readonly title: string; readonly cli?: string }>(
  items: readonly Item[],
  typed: string,
): Item[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return [...items];
  return items
    .map((item) => ({
      item,
      gap: Math.min(gapOf(item.title, wanted), gapOf(item.cli ?? '', wanted) + 2),
    }))
    .filter(({ gap }) => Number.isFinite(gap))
    .sort((a, b) => a.gap - b.gap)
    .map(({ item }) => item);
}

/** Number of letters between those that are wanted; endless where one is missing. */
function gapOf(text: string, wanted: string): number {
  const lower = text.toLowerCase();
  const whole = lower.indexOf(wanted);
  if (whole >= 0) return whole === 0 || lower[whole - 1] === ' ' ? 0 : 1;
  let [at, gap] = [-1, 2];
  for (const letter of wanted) {
    const next = lower.indexOf(letter, at + 1);
    if (next < 0) return Infinity;
    gap += at < 0 ? 0 : next - at - 1;
    at = next;
  }
  return gap;
}
