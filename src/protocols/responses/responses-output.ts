import { isJsonObject } from '../../core/json/value.ts';

/** Members of items and of their parts that hold generated content. */
const GENERATED = ['text', 'refusal', 'arguments', 'input', 'code'] as const;

/** Measures the text, reasoning and tool arguments of the items of an answer, in characters. */
export function measureItems(items: unknown): number {
  return sum(items, (item) => {
    return measure(item) + sum(item['content'], measure) + sum(item['summary'], measure);
  });
}

/** True while the provider is at work, or will be, so that asking again makes sense. */
export function isPending(status: unknown): boolean {
  return status === 'queued' || status === 'in_progress';
}

/** True when a Response is done and says nothing, nor why; one that was cut short says why. */
export function isBlank({ status, output }: Readonly<Record<string, unknown>>): boolean {
  if (status === 'incomplete' || status === 'failed') return false;
  return !Array.isArray(output) || !output.some(isJsonObject);
}

type Members = Readonly<Record<string, unknown>>;

function sum(list: unknown, sizeOf: (one: Members) => number): number {
  if (!Array.isArray(list)) return 0;
  return list.filter(isJsonObject).reduce((size, one) => size + sizeOf(one), 0);
}

function measure(one: Members): number {
  return GENERATED.reduce((size, name) => {
    const value = one[name];
    return typeof value === 'string' ? size + value.length : size;
  }, 0);
}
