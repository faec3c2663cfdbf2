import { isJsonObject } from '../../../core/json/value.ts';
import type { CanonicalRequest, FunctionTool } from '../../canonical/canonical.ts';
import { expectKind, refused } from '../check-fields.ts';
import { fieldOf, membersOf, textOf, toList } from '../fields.ts';
import type { Members } from '../fields.ts';
import { readTexts } from './read-config.ts';
import { toJsonSchema } from './to-json-schema.ts';

/**
 * The functions that a request declares.
 * @throws GatewayError `invalid_request` with the path of an invalid tool
 */
export function readTools(body: Members): FunctionTool[] {
  return toList(fieldOf(body, 'tools')).flatMap((tool, index) => {
    const path = `tools[${index}]`;
    if (!isJsonObject(tool)) throw refused(path, 'must be an object');
    const declared = fieldOf(tool, 'functionDeclarations');
    expectKind(declared, 'list', `${path}.functionDeclarations`);
    return toList(declared).map((one, at) =>
      readDeclaration(one, `${path}.functionDeclarations[${at}]`),
    );
  });
}

function readDeclaration(declared: unknown, path: string): FunctionTool {
  if (!isJsonObject(declared)) throw refused(path, 'must be an object');
  const name = textOf(declared, 'name');
  if (!name) throw refused(`${path}.name`, 'is required');
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

/** Names of the functions that `toolConfig` allows; undefined for all. */
export function readAllowedTools(body: Members): string[] | undefined {
  const calling = membersOf(membersOf(body, 'toolConfig'), 'functionCallingConfig');
  const path = 'toolConfig.functionCallingConfig';
  const allowed = readTexts(calling, 'allowedFunctionNames', path);
  return allowed.length > 0 ? allowed : undefined;
}

/** Reads the choice of `toolConfig`. */
export function readToolChoice(
  body: Members,
  unmapped: Set<string>,
): CanonicalRequest['toolChoice'] {
  const config = membersOf(body, 'toolConfig');
  const calling = membersOf(config, 'functionCallingConfig');
  const path = 'toolConfig.functionCallingConfig';
  const allowed = readTexts(calling, 'allowedFunctionNames', path);
  const [only, ...others] = allowed;
  const mode = textOf(calling, 'mode')?.toUpperCase();
  if (mode === 'ANY' && only !== undefined && others.length === 0) return { name: only };
  if (mode === 'ANY') return 'required';
  if (mode === 'NONE') return 'none';
  if (mode === 'VALIDATED') unmapped.add(`${path}.mode`);
  return mode === 'AUTO' || mode === 'VALIDATED' ? 'auto' : undefined;
}
