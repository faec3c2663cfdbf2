/** A Markdown table, the first row its head, padded as the formatter of the repository does it. */
export function table(rows: readonly (readonly string[])[]): string {
  const width = (column: number) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0));
  const [head = [], ...body] = rows;
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(width(column))).join(' | ')} |`;
  const rule = head.map((_, column) => '-'.repeat(width(column)));
  return [line(head), line(rule), ...body.map(line)].join('\n');
}

/** The page with everything between `<!-- name -->` and `<!-- /name -->` written again. */
export function withGenerated(page: string, name: string, text: string): string {
  const place = new RegExp(`(<!-- ${name} -->)[\\s\\S]*(<!-- /${name} -->)`);
  if (!place.test(page)) throw new Error(`the page has no place for ${name}`);
  return page.replace(place, (_, start, end) => `${start}\n\n${text}\n\n${end}`);
}
