import { isRecord } from '../../client/http/guards.ts';

const INDENT = '  ';

/** A value for people: `yes`, `a, b`, and nested values on lines of their own; none is a dash. */
export function toLines(value: unknown): string {
  if (isList(value)) {
    if (!value.some(isNested)) return toLine(value);
    return value.map((item) => `- ${indent(toLines(item), INDENT)}`).join('\n');
  }
  if (!isRecord(value)) return toLine(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return '-';
  return members
    .map(([name, member]) =>
      isNested(member)
        ? `${name}:\n${INDENT}${indent(toLines(member), INDENT)}`
        : `${name}: ${indent(toLine(member), INDENT)}`,
    )
    .join('\n');
}

/** The same on one line, for the cells of a table. */
export function toLine(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (isList(value)) return value.length === 0 ? '-' : value.map(toLine).join(', ');
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.entries(value);
  if (members.length === 0) return '-';
  return members.map(([name, member]) => `${name} ${toLine(member)}`).join(', ');
}

/** True for what needs lines of its own: objects, and lists of them. */
function isNested(value: unknown): boolean {
  if (isList(value)) return value.some(isNested);
  return isRecord(value) && Object.keys(value).length > 0;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function indent(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`);
}
