import type { JsonDocument } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';

/** Forms in which a client reads the calls of its tools. */
export interface CallForms {
  /** It asked with `functions`, before there were tools: it reads `function_call`. */
  readonly isLegacy: boolean;
  /** Names of its custom tools, which are called with free text. */
  readonly custom: ReadonlySet<string>;
}

/** Types of items of a Responses input that declare tools. */
export const DECLARING_MARKS = ['additional_tools', 'tool_search_output'] as const;
export const DECLARING_ITEMS: ReadonlySet<unknown> = new Set(DECLARING_MARKS);

/** Type of a tool that takes free text. */
export const CUSTOM_MARK = 'custom';

/** Undefined where every call is that of a function. */
export function callFormsOf(json: JsonDocument): CallForms | undefined {
  const isLegacy = json.kindOf('functions') === 'array' && json.kindOf('tools') !== 'array';
  const custom = new Set(
    json.maySee(CUSTOM_MARK) ? namesOf([json.get('tools'), ...declaredIn(json)].flat()) : [],
  );
  return isLegacy || custom.size > 0 ? { isLegacy, custom } : undefined;
}

function declaredIn(json: JsonDocument): unknown[] {
  if (!DECLARING_MARKS.some((type) => json.maySee(type))) return [];
  const input = json.get('input');
  const items = Array.isArray(input) ? input.filter(isJsonObject) : [];
  return items.flatMap(({ type, tools }) => (DECLARING_ITEMS.has(type) ? [tools] : []));
}

/** Chat has them within a member of their type, Responses in the tool itself. */
function namesOf(tools: readonly unknown[]): string[] {
  return tools.flatMap((tool) => {
    if (!isJsonObject(tool) || tool['type'] !== CUSTOM_MARK) return [];
    const { custom } = tool;
    const { name } = isJsonObject(custom) ? custom : tool;
    return typeof name === 'string' ? [name] : [];
  });
}
