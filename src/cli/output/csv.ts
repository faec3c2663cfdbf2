/** Comma-separated values as RFC 4180 has them, with a row of names; lines end with a line feed. */
export function toCsv(names: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return [names, ...rows].map((cells) => cells.map(toCell).join(',')).join('\n');
}

/** Beginnings by which spreadsheets know a formula; values of others must not be one. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const harmless = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
