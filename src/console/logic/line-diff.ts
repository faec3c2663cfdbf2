/** One line of a comparison. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Lines of two texts side by side, by their longest common part. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const common: number[][] = Array.from({ length: a.length + 1 }, () =>
    Array<number>(b.length + 1).fill(0),
  );
  const at = (row: number, column: number): number => common[row]?.[column] ?? 0;
  for (let row = a.length - 1; row >= 0; row--)
    for (let column = b.length - 1; column >= 0; column--)
      (common[row] as number[])[column] =
        a[row] === b[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < a.length || column < b.length) {
    if (row < a.length && column < b.length && a[row] === b[column]) {
      lines.push({ kind: 'same', text: a[row++] as string });
      column++;
    } else if (column < b.length && (row === a.length || at(row, column + 1) > at(row + 1, column)))
      lines.push({ kind: 'added', text: b[column++] as string });
    else lines.push({ kind: 'removed', text: a[row++] as string });
  }
  return lines;
}

/** A patch in unified form of a file with one change; empty where nothing changed. */
export function toPatch(file: string, before: string, after: string): string {
  const lines = diffLines(before, after);
  if (lines.every(({ kind }) => kind === 'same')) return '';
  const signs = { same: ' ', added: '+', removed: '-' } as const;
  const count = (gone: DiffLine['kind']): number =>
    lines.filter(({ kind }) => kind !== gone).length;
  const head = [
    `--- a/${file}`,
    `+++ b/${file}`,
    `@@ -1,${count('added')} +1,${count('removed')} @@`,
  ];
  return [...head, ...lines.map(({ kind, text }) => signs[kind] + text)].join('\n') + '\n';
}
