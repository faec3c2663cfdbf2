import type { JsonDocument } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';

/** Forms in which a client reads the calls of its tools. */
export interface CallForms {
  /** It asked with `functions`, before there were tools: it reads `function_call`. */
  readonly isLegacy: boolean;
  /** Names of its custom tools, which are called with free text. */
  readonly custom: ReadonlySet<string>;
}

/** Type of a tool that takes free text. */
export const CUSTOM_MARK = 'custom';

/** Undefined where every call is that of a function. */
export function callFormsOf(json: JsonDocument): CallForms | undefined {
  const isLegacy = json.kindOf('functions') === 'array' && json.kindOf('tools') !== 'array';
  const custom = new Set(json.maySee(CUSTOM_MARK) ? namesOf(json.get('tools')) : []);
  return isLegacy || custom.size > 0 ? { isLegacy, custom } : undefined;
}

/** Chat has them within a member of their type, Responses in the tool itself. */
function namesOf(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    if (!isJsonObject(tool) || tool['type'] !== CUSTOM_MARK) return [];
    const { custom } = tool;
    const { name } = isJsonObject(custom) ? custom : tool;
    return typeof name === 'string' ? [name] : [];
  });
}
