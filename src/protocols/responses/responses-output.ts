import { isJsonObject } from '../../core/json-value.ts';

/** Members of items and of their parts that hold what was generated. */
const GENERATED = ['text', 'refusal', 'arguments', 'input', 'code'] as const;
const NESTED = ['content', 'summary'] as const;

/** How much text, reasoning and tool arguments the items of an answer hold, in characters. */
export function measureItems(items: unknown): number {
  if (!Array.isArray(items)) return 0;
  return items.filter(isJsonObject).reduce((size, item) => {
    const own = GENERATED.reduce((sum, name) => sum + lengthOf(item[name]), 0);
    return size + own + NESTED.reduce((sum, name) => sum + measureItems(item[name]), 0);
  }, 0);
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}
