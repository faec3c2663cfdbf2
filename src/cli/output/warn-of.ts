import { oneLine } from '../../core/printable.ts';

/** Shows the warnings of the server about an object that it has written. */
export function warnOf(
  { warnings }: Readonly<Record<string, unknown>>,
  output: { warn(text: string): void },
): void {
  for (const text of Array.isArray(warnings) ? warnings : []) output.warn(oneLine(String(text)));
}
