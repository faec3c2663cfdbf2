import { isJsonObject } from '../../../core/json/value.ts';
import { objectOf, objectsOf, wordOf } from './rule.ts';
import type { JsonObject, BoundWords, StrictProtocol } from './rule.ts';

const REFERENCE = 'https://ai.google.dev/api/generate-content';
const CALLING = 'https://ai.google.dev/gemini-api/docs/function-calling';
const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/;
const BEFORE_3 = /gemini-[12]\./;
const FROM_3 = /gemini-(?:[3-9]|\d\d)/;
/** Members of `Schema`, the reference's subset of OpenAPI (ai.google.dev/api/caching#Schema). */
const SCHEMA_MEMBERS: ReadonlySet<string> = new Set(
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'.split(
    ' ',
  ),
);

export const GOOGLE_WORDS: BoundWords = {
  path: (steps) =>
    steps
      .map((step, at) => (typeof step === 'number' ? `[${step}]` : at ? `.${step}` : step))
      .join(''),
  pattern: (path) =>
    `* GenerateContentRequest.${path}: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.`,
  tooLong: (path, most) => `* GenerateContentRequest.${path}: at most ${most} characters`,
  tooMany: (path, most) => `* GenerateContentRequest.${path}: at most ${most} values`,
  tooLittle: (path, least) => `* GenerateContentRequest.${path}: at least ${least}`,
};

const partsOf = ({ parts }: JsonObject): JsonObject[] => objectsOf(parts);
const callsIn = (content: JsonObject | undefined): JsonObject[] =>
  partsOf(content ?? {}).filter((part) => isJsonObject(part['functionCall']));
const resultsIn = (content: JsonObject | undefined): JsonObject[] =>
  partsOf(content ?? {}).filter((part) => isJsonObject(part['functionResponse']));

/** Each turn of calls has as many results in the next content, and follows the user or results. */
function misplacedContent({ contents }: JsonObject): string | undefined {
  const all = objectsOf(contents);
  if (all.length === 0) return '* GenerateContentRequest.contents: contents is not specified';
  for (const [index, content] of all.entries()) {
    const before = all[index - 1];
    if (partsOf(content).length === 0)
      return `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`;
    if (callsIn(content).length > 0 && (!before || before['role'] === 'model'))
      return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
    if (resultsIn(content).length !== callsIn(before).length)
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
  }
  const open = callsIn(all.at(-1)).length > 0;
  return open
    ? 'Please ensure that single turn requests end with a user role or the role field is empty.'
    : undefined;
}

/** The first member of a schema that the reference does not have. */
function unknownMember(schema: unknown, path: string): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  for (const [name, value] of Object.entries(schema)) {
    if (!SCHEMA_MEMBERS.has(name))
      return `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`;
    const nested =
      name === 'properties'
        ? Object.values(objectOf(value))
        : Array.isArray(value)
          ? value
          : [value];
    if (!['properties', 'items', 'anyOf'].includes(name)) continue;
    for (const one of nested) {
      const refusal = unknownMember(one, `${path}.${name}`);
      if (refusal !== undefined) return refusal;
    }
  }
  return undefined;
}

function foreignSchema({ tools, generationConfig }: JsonObject): string | undefined {
  const declarations = objectsOf(tools).flatMap((tool) => objectsOf(tool['functionDeclarations']));
  for (const { parameters } of declarations) {
    const refusal = unknownMember(parameters, 'tools[0].function_declarations[0].parameters');
    if (refusal !== undefined) return refusal;
  }
  const { responseSchema } = objectOf(generationConfig);
  return unknownMember(responseSchema, 'generation_config.response_schema');
}

export const GOOGLE_GENERATE_CONTENT: StrictProtocol = {
  protocol: 'generate-content',
  reference: REFERENCE,
  bounds: [
    { at: 'tools[].functionDeclarations[].name', pattern: NAME },
    { at: 'toolConfig.functionCallingConfig.allowedFunctionNames[]', pattern: NAME },
    { at: 'contents[].parts[].functionCall.name', pattern: NAME },
    { at: 'contents[].parts[].functionResponse.name', pattern: NAME },
    { at: 'generationConfig.stopSequences', most: 5 },
  ],
  rules: [
    { source: CALLING, refusal: misplacedContent },
    { source: 'https://ai.google.dev/api/caching#Schema', refusal: foreignSchema },
    {
      source: CALLING,
      refusal({ tools, toolConfig }) {
        const { allowedFunctionNames } = objectOf(objectOf(toolConfig)['functionCallingConfig']);
        const names = objectsOf(tools)
          .flatMap((tool) => objectsOf(tool['functionDeclarations']))
          .map(({ name }) => name);
        const allowed = Array.isArray(allowedFunctionNames) ? allowedFunctionNames : [];
        const unknown: unknown = allowed.find((name) => !names.includes(name));
        return unknown === undefined
          ? undefined
          : `Function ${wordOf(unknown)} of allowed_function_names is not declared.`;
      },
    },
    {
      models: FROM_3,
      source: 'https://ai.google.dev/gemini-api/docs/thought-signatures',
      refusal({ contents }) {
        const all = objectsOf(contents);
        const index = all.findIndex((content) => {
          const [first] = callsIn(content);
          return first && first['thoughtSignature'] === undefined;
        });
        return index < 0
          ? undefined
          : `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call at position ${index}.`;
      },
    },
    {
      models: BEFORE_3,
      source: 'https://github.com/googleapis/python-genai/issues/867',
      refusal: ({ tools, generationConfig }) =>
        objectsOf(tools).length > 0 &&
        objectOf(generationConfig)['responseMimeType'] === 'application/json'
          ? "Function calling with a response mime type: 'application/json' is unsupported"
          : undefined,
    },
    {
      models: /gemini-(?:2\.5|[3-9])/,
      source: 'https://github.com/vercel/ai/issues/8943',
      refusal({ generationConfig }, model) {
        const { presencePenalty, frequencyPenalty } = objectOf(generationConfig);
        return presencePenalty || frequencyPenalty
          ? `Penalty is not enabled for models/${model}`
          : undefined;
      },
    },
  ],
};
