/** Position in the configuration; line and column count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One problem of the configuration (design: Config as code). Never carries a secret value. */
export interface Diagnostic extends Place {
  /** The value's path (`models[0].routes[1].provider`), empty for the whole file. */
  readonly path: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** Text to write instead. */
  readonly hint?: string;
}

export type DiagnosticFormat = 'text' | 'github' | 'json';

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/** Sorts by file, line and column, so that the output does not depend on the order of the checks. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted(
    (a, b) =>
      compareText(a.file, b.file) ||
      a.line - b.line ||
      a.column - b.column ||
      compareText(a.path, b.path) ||
      compareText(a.message, b.message),
  );
}

/**
 * Writes problems in the order of their positions. `text`: one line per problem with its hint
 * below; `github`: workflow annotations; `json`: the array itself. All carry the same positions.
 *
 * @example
 * ```ts
 * import { formatDiagnostics, loadConfig } from 'agent-gateway';
 *
 * const { diagnostics } = await loadConfig({
 *   paths: ['gateway.yaml'],
 *   env: process.env,
 *   cwd: process.cwd(),
 * });
 * console.log(formatDiagnostics(diagnostics, process.env.GITHUB_ACTIONS ? 'github' : 'text'));
 * ```
 */
export function formatDiagnostics(
  diagnostics: readonly Diagnostic[],
  format: DiagnosticFormat,
): string {
  const sorted = sortDiagnostics(diagnostics);
  if (format === 'json') return JSON.stringify(sorted, null, 2);
  return sorted.map(format === 'github' ? toAnnotation : toText).join('\n');
}

function toText(diagnostic: Diagnostic): string {
  const { file, line, column, severity, path, message, hint } = diagnostic;
  const subject = path === '' ? '' : `${path}: `;
  const place = file === '' ? '' : `${file}:${line}:${column}: `;
  const first = printable(`${place}${severity}: ${subject}${message}`);
  return hint === undefined ? first : `${first}\n  hint: ${printable(hint)}`;
}

function toAnnotation(diagnostic: Diagnostic): string {
  const { file, line, column, severity, path, message, hint } = diagnostic;
  const subject = printable(path === '' ? message : `${path}: ${message}`);
  const text = hint === undefined ? subject : `${subject}\n${printable(hint)}`;
  const property = (value: string) =>
    escapeData(value).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${severity} file=${property(file)},line=${line},col=${column}::${escapeData(text)}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Names come from files of others: control characters must not reach a terminal. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu,
    '\uFFFD',
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
