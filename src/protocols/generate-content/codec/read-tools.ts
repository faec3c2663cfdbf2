import { isJsonObject } from '../../../core/json-value.ts';
import type { CanonicalRequest, FunctionTool } from '../../canonical.ts';
import { expectKind, refused } from '../check-fields.ts';
import { fieldOf, membersOf, textOf, toCamel, toList } from '../fields.ts';
import type { Members } from '../fields.ts';
import { readTexts } from './read-config.ts';
import { toJsonSchema } from './to-json-schema.ts';

/**
 * The functions that a request declares.
 *
 * @param unmapped takes the names of tools and members that no other protocol has
 * @throws GatewayError `invalid_request` with the path of what is no tool
 */
export function readTools(body: Members, unmapped: Set<string>): FunctionTool[] {
  return toList(fieldOf(body, 'tools')).flatMap((tool, index) => {
    const path = `tools[${index}]`;
    if (!isJsonObject(tool)) throw refused(path, 'must be an object');
    for (const name of Object.keys(tool))
      if (toCamel(name) !== 'functionDeclarations') unmapped.add(`${path}.${name}`);
    const declared = fieldOf(tool, 'functionDeclarations');
    expectKind(declared, 'list', `${path}.functionDeclarations`);
    return toList(declared).map((one, at) =>
      readDeclaration(one, { path: `${path}.functionDeclarations[${at}]`, unmapped }),
    );
  });
}

const KNOWN = new Set(['name', 'description', 'parameters', 'parametersJsonSchema']);

function readDeclaration(
  declared: unknown,
  { path, unmapped }: { path: string; unmapped: Set<string> },
): FunctionTool {
  if (!isJsonObject(declared)) throw refused(path, 'must be an object');
  const name = textOf(declared, 'name');
  if (!name) throw refused(`${path}.name`, 'is required');
  for (const member of Object.keys(declared))
    if (!KNOWN.has(toCamel(member))) unmapped.add(`${path}.${member}`);
  const description = textOf(declared, 'description');
  const own = fieldOf(declared, 'parameters') ?? undefined;
  const parameters = fieldOf(declared, 'parametersJsonSchema') ?? toJsonSchema(own);
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
  };
}

/** What `toolConfig` says of the choice. */
export function readToolChoice(
  body: Members,
  unmapped: Set<string>,
): CanonicalRequest['toolChoice'] {
  const config = membersOf(body, 'toolConfig');
  for (const name of Object.keys(config))
    if (toCamel(name) !== 'functionCallingConfig') unmapped.add(`toolConfig.${name}`);
  const calling = membersOf(config, 'functionCallingConfig');
  const path = 'toolConfig.functionCallingConfig';
  const allowed = readTexts(calling, 'allowedFunctionNames', path);
  const [only, ...others] = allowed;
  const mode = textOf(calling, 'mode')?.toUpperCase();
  if (mode === 'ANY' && only !== undefined && others.length === 0) return { name: only };
  if (allowed.length > 0) unmapped.add(`${path}.allowedFunctionNames`);
  if (mode === 'ANY') return 'required';
  if (mode === 'NONE') return 'none';
  if (mode === 'VALIDATED') unmapped.add(`${path}.mode`);
  return mode === 'AUTO' || mode === 'VALIDATED' ? 'auto' : undefined;
}
