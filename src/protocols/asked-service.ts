import { serviceOf } from '../core/usage.ts';
import type { AskedService, PricedTool } from '../core/usage.ts';
import type { JsonDocument } from '../core/json/json-document.ts';
import { isJsonObject } from '../core/json/value.ts';
import { isCount } from './canonical/token-counts.ts';
import type { Members } from './json-fields.ts';

/** Most uses of a tool in one call that are reserved for where the request sets no bound. */
const USES = 10;

export interface AskedMembers {
  /** Members whose values name a way of service. */
  readonly service: readonly string[];
  /** Texts, one of which is in every list of tools with one that is priced by its uses. */
  readonly marks: readonly string[];
  /** Tool that a member of `tools` is. */
  readonly toolOf: (tool: Members) => PricedTool | undefined;
  /** Bound of the uses of all tools together, where the request names one. */
  readonly uses?: string;
}

/** Undefined where the request asks for nothing that is priced apart. */
export function askedService(json: JsonDocument, of: AskedMembers): AskedService | undefined {
  const named = of.service.map((name) => json.get(name));
  const service = serviceOf(...named);
  const anyService = named.includes('auto');
  const tools = askedTools(json, of);
  if (!service && !anyService && !tools) return undefined;
  return { service, anyService, tools };
}

function askedTools(
  json: JsonDocument,
  { marks, toolOf, uses: bound }: AskedMembers,
): AskedService['tools'] {
  const member = json.find('tools');
  const bytes = member && json.body.subarray(member.valueStart, member.valueEnd);
  // Most tools are functions, which are not parsed for this.
  if (!bytes || !marks.some((mark) => bytes.includes(mark))) return undefined;
  const list = json.get('tools');
  const most = bound === undefined ? undefined : json.get(bound);
  const found: { [K in PricedTool]?: number } = {};
  for (const tool of Array.isArray(list) ? list.filter(isJsonObject) : []) {
    const name = toolOf(tool);
    if (!name) continue;
    const uses = [tool['max_uses'], most].find(isCount) ?? USES;
    found[name] = (found[name] ?? 0) + uses;
  }
  return Object.keys(found).length > 0 ? found : undefined;
}
