export function judgePages(pages: number, percent: number): string;
export function judgeQueries(
  rows: Readonly<Record<string, Readonly<Record<string, number>>>>,
): string;
