import { isRecord } from '../../client/http/guards.ts';
import type { Part, Step, Test } from './parse-jsonpath.ts';

/** Texts of a template filled from a value; members that are not there give nothing. */
export function renderJsonPath(parts: readonly Part[], value: unknown): string {
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text;
      const found = select(part.steps, value);
      return part.type === 'path'
        ? found.map(toText).join(' ')
        : found.map((one) => renderJsonPath(part.parts, one)).join('');
    })
    .join('');
}

/** False for a template with paths of which none leads to a value. */
export function matchesAny(parts: readonly Part[], value: unknown): boolean {
  const paths = parts.flatMap((part) => (part.type === 'text' ? [] : [part]));
  return paths.length === 0 || paths.some((part) => leadsTo(part, value));
}

function leadsTo(part: Exclude<Part, { type: 'text' }>, value: unknown): boolean {
  const found = select(part.steps, value);
  if (part.type === 'path') return found.length > 0;
  return found.some((one) => matchesAny(part.parts, one));
}

function select(steps: readonly Step[], value: unknown): unknown[] {
  let values = [value];
  for (const step of steps) values = values.flatMap((one) => follow(step, one));
  return values;
}

function follow(step: Step, value: unknown): unknown[] {
  const members = membersOf(value);
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  switch (step.type) {
    case 'member':
      return isRecord(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'all':
      return members;
    case 'deep':
      return [value, ...members.flatMap((member) => follow(step, member))];
    case 'pick':
      return step.indexes.flatMap((index) => {
        const at = index < 0 ? items.length + index : index;
        return at in items ? [items[at]] : [];
      });
    case 'slice':
      return items.slice(step.from, step.to);
    case 'filter':
      return members.filter((member) => holds(step.test, select(step.left, member)));
    default:
      return [];
  }
}

function membersOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  return isRecord(value) ? Object.values(value) : [];
}

function holds(test: Test | undefined, [left]: readonly unknown[]): boolean {
  if (test === undefined) return left !== undefined;
  const { operator, value } = test;
  if (operator === '==') return left === value;
  if (operator === '!=') return left !== value;
  if (typeof left !== typeof value || left === undefined) return false;
  const [a, b] = [left, value] as [number, number];
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  return operator === '>' ? a > b : a >= b;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
