import * as fc from 'fast-check';
import { NO_USAGE } from '../../src/core/usage.ts';
import type { Usage } from '../../src/core/usage.ts';
import type {
  CanonicalAnswer,
  CanonicalRequest,
  Citation,
  FunctionTool,
  ImagePart,
  Part,
  ReasoningPart,
  StopKind,
  TokenLogprob,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../src/protocols/canonical/canonical.ts';
import type { Feature, FeatureFields } from '../../src/protocols/features.ts';
import { anyCharacter } from '../support/text/any-character.ts';

/** What a protocol can hold, so that what is made for it survives the way there and back. */
export interface CanonicalShape {
  features: FeatureFields;
  /** Reasoning as the protocol itself signs it. Default: none in requests, unsigned in answers. */
  reasoning?: fc.Arbitrary<ReasoningPart>;
  /** Why answers can stop, beside tool calls. Default: `end`, `length`. */
  stops?: readonly StopKind[];
}

/** Not empty, of any characters. */
export const textArbitrary: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 6 }),
  fc.constantFrom('two\nlines', 'data: [DONE]\n\n', '\u{F0000}raw:0', '"}]', '\u2028 \r\n', '1.0'),
);

/** JSON objects as a model writes them, spelled so that parsing and writing again would change them. */
export const argumentsArbitrary: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '{}',
    '{"a":1.0,"b":1152921504606846977}',
    '{ "city" : "Z\\u00fcrich", "arguments": {"input": [1e2]} }',
    '{"__proto__":{"x":1},"text":"\\"}{"}',
  ),
  fc
    .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }))
    .map((value) => JSON.stringify(value)),
);

const nameArbitrary = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/);
const PNG = 'iVBORw0KGgo=';

/** Requests that use nothing but what every protocol can say and `features`. */
export function requestArbitrary(shape: CanonicalShape): fc.Arbitrary<CanonicalRequest> {
  return fc
    .record({
      turns: turnsArbitrary(shape),
      tools: toolsArbitrary(shape),
      sampling: fc.option(samplingArbitrary(shape.features), { nil: undefined }),
      rest: restArbitrary(shape.features),
      stream: fc.boolean(),
    })
    .map(({ turns, tools, sampling, rest, stream }) => ({
      turns,
      ...tools,
      ...(sampling ?? ('reasoning' in shape.features ? { reasoning: { effort: 'high' } } : {})),
      ...rest,
      stream,
      unmapped: [],
    }));
}

function turnsArbitrary(shape: CanonicalShape): fc.Arbitrary<readonly Turn[]> {
  const system = textArbitrary.map((text) => turn('system', [{ type: 'text', text }]));
  return fc
    .tuple(
      fc.option(system, { nil: undefined }),
      fc.array(roundArbitrary(shape), { maxLength: 3 }),
      userArbitrary(shape),
    )
    .map(([first, rounds, last]) => withIds([...(first ? [first] : []), ...rounds.flat(), last]));
}

function turn(role: Turn['role'], parts: readonly Part[]): Turn {
  return { role, parts };
}

/** A user's words, the assistant's answer, and the results of its calls. */
function roundArbitrary(shape: CanonicalShape): fc.Arbitrary<readonly Turn[]> {
  return fc
    .tuple(
      userArbitrary(shape),
      assistantArbitrary(shape),
      fc.array(resultArbitrary(shape.features), { minLength: 3, maxLength: 3 }),
    )
    .map(([user, assistant, results]) => {
      const count = assistant.parts.filter(({ type }) => type === 'tool_call').length;
      const tool = turn('tool', results.slice(0, count));
      return count === 0 ? [user, assistant] : [user, assistant, tool];
    });
}

function userArbitrary({ features }: CanonicalShape): fc.Arbitrary<Turn> {
  const parts: fc.Arbitrary<Part>[] = [textArbitrary.map((text) => ({ type: 'text', text }))];
  if ('images' in features) parts.push(imageArbitrary(features));
  if ('documents' in features) {
    parts.push(fc.constant('document_names' in features ? NAMED_DOCUMENT : DOCUMENT));
  }
  if ('audio' in features)
    parts.push(fc.constant({ type: 'audio', mediaType: 'audio/wav', data: PNG }));
  return fc
    .array(fc.oneof(...parts), { minLength: 1, maxLength: 3 })
    .map((all) => turn('user', all));
}

const DOCUMENT: Part = {
  type: 'document',
  source: { type: 'data', mediaType: 'application/pdf', data: PNG },
};
const NAMED_DOCUMENT: Part = { ...DOCUMENT, name: 'paper.pdf' };

function imageArbitrary(features: FeatureFields): fc.Arbitrary<ImagePart> {
  const mediaType = fc.constantFrom('image/png', 'image/jpeg', 'image/webp');
  const data = mediaType.map((one) => ({ type: 'data' as const, mediaType: one, data: PNG }));
  const url = fc.constant({ type: 'url' as const, url: 'https://example.com/a.png?b=c' });
  const source = 'image_urls' in features ? fc.oneof(data, url) : data;
  return source.map((one) => ({ type: 'image', source: one }));
}

function assistantArbitrary(shape: CanonicalShape): fc.Arbitrary<Turn> {
  return fc
    .record({
      reasoning: shape.reasoning ? fc.option(shape.reasoning, { nil: undefined }) : none,
      text: fc.option(textArbitrary, { nil: undefined }),
      calls: fc.array(callArbitrary, { maxLength: 3 }),
    })
    .map(({ reasoning, text, calls }) => {
      const said = text ?? (calls.length === 0 ? 'nothing' : undefined);
      return turn('assistant', [
        ...(reasoning ? [reasoning] : []),
        ...(said === undefined ? [] : [{ type: 'text' as const, text: said }]),
        ...calls,
      ]);
    });
}

const none = fc.constant(undefined);

const callArbitrary: fc.Arbitrary<ToolCallPart> = fc
  .tuple(nameArbitrary, argumentsArbitrary)
  .map(([name, args]) => ({ type: 'tool_call', id: '', name, arguments: args }));

function resultArbitrary(features: FeatureFields): fc.Arbitrary<ToolResultPart> {
  const text = textArbitrary.map((one) => ({ type: 'text' as const, text: one }));
  const content =
    'tool_result_images' in features ? fc.tuple(text, imageArbitrary({})) : fc.tuple(text);
  return fc
    .tuple(content, 'tool_result_errors' in features ? fc.boolean() : fc.constant(false))
    .map(([all, isError]) => ({ type: 'tool_result', callId: '', content: all, isError }));
}

/** Numbers the calls of a conversation, and its results as the calls in front of them. */
function withIds(turns: readonly Turn[]): readonly Turn[] {
  let calls = 0;
  let results = 0;
  const names: string[] = [];
  return turns.map((one) => ({
    ...one,
    parts: one.parts.map((part) => {
      if (part.type === 'tool_call') {
        names.push(part.name);
        return { ...part, id: `call_${calls++}` };
      }
      if (part.type !== 'tool_result') return part;
      const name = names[results] as string;
      return { ...part, callId: `call_${results++}`, name };
    }),
  }));
}

type Tools = Pick<CanonicalRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'>;

function toolsArbitrary({ features }: CanonicalShape): fc.Arbitrary<Tools> {
  const tool: fc.Arbitrary<FunctionTool> = fc
    .record({
      name: nameArbitrary,
      description: textArbitrary,
      parameters: fc.constantFrom(
        { type: 'object', properties: {} },
        { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      ),
      strict: 'strict_tools' in features ? fc.boolean() : none,
    })
    .map(({ strict, ...rest }) => ({
      type: 'function',
      ...rest,
      ...(strict === undefined ? {} : { strict }),
    }));
  return fc
    .record({
      tools: fc.uniqueArray(tool, { maxLength: 3, selector: ({ name }) => name }),
      choice: fc.constantFrom('auto' as const, 'none' as const, 'name' as const, undefined),
      single: fc.boolean(),
    })
    .map(({ tools, choice, single }) => {
      const first = tools[0];
      if (!first) return { tools };
      const toolChoice = choice === 'name' ? { name: first.name } : choice;
      const oneByOne = single && choice !== 'none' && 'parallel_tool_calls' in features;
      return {
        tools,
        ...(toolChoice !== undefined && 'tool_choice' in features && { toolChoice }),
        ...(oneByOne && { parallelToolCalls: false }),
      };
    });
}

function samplingArbitrary(features: FeatureFields): fc.Arbitrary<Partial<CanonicalRequest>> {
  const penalty = fc.constantFrom(-1.5, 0, 0.25, 2);
  return pick(features, {
    temperature: fc.constantFrom(0, 0.3, 1, ...('temperature_above_1' in features ? [1.7] : [])),
    topP: fc.constantFrom(0.1, 0.95, 1),
    topK: ['top_k', fc.integer({ min: 1, max: 100 })],
    seed: ['seed', fc.integer({ min: 0, max: 2 ** 31 - 1 })],
    presencePenalty: ['presence_penalty', penalty],
    frequencyPenalty: ['frequency_penalty', penalty],
  });
}

function restArbitrary(features: FeatureFields): fc.Arbitrary<Partial<CanonicalRequest>> {
  const schema = {
    type: 'schema' as const,
    ...('schema_name' in features && { name: 'answer' }),
    schema: { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false },
  };
  const outputs = [
    ...('json_output' in features ? [{ type: 'json' as const }] : []),
    ...('schema_output' in features ? [schema] : []),
  ];
  return fc
    .tuple(
      fc.integer({ min: 1024, max: 100_000 }),
      pick(features, {
        stop: ['stop_sequences', fc.array(textArbitrary, { minLength: 1, maxLength: 4 })],
        verbosity: ['verbosity', fc.constantFrom('low', 'medium', 'high')],
        logprobs: ['logprobs', fc.integer({ min: 1, max: 5 })],
        user: ['user', textArbitrary],
        metadata: ['metadata', fc.constant({ team: 'search' })],
        serviceTier: ['service_tier', fc.constant('auto')],
        output: outputs.length > 0 ? fc.constantFrom(...outputs) : none,
      }),
    )
    .map(([maxOutputTokens, rest]) => ({ maxOutputTokens, ...rest }));
}

type Choice = fc.Arbitrary<unknown> | readonly [Feature, fc.Arbitrary<unknown>];

/** Some of the members, those of missing features never; undefined ones are left out. */
function pick(
  features: FeatureFields,
  choices: Readonly<Record<string, Choice>>,
): fc.Arbitrary<Partial<CanonicalRequest>> {
  const known: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, choice] of Object.entries(choices)) {
    if ('generate' in choice) known[name] = choice;
    else if (choice[0] in features) known[name] = choice[1];
  }
  return fc
    .record(known, { requiredKeys: [] })
    .map((made) => Object.fromEntries(Object.entries(made).filter(([, one]) => one !== undefined)));
}

/** Answers that hold nothing but what every protocol can say and the shape. */
export function answerArbitrary(shape: CanonicalShape): fc.Arbitrary<CanonicalAnswer> {
  const { features, stops = ['end', 'length'] } = shape;
  const unsigned = textArbitrary.map((text): ReasoningPart => ({ type: 'reasoning', text }));
  const reasoning = shape.reasoning ?? ('reasoning_text' in features ? unsigned : undefined);
  const refusal = textArbitrary.map((text): Part => ({ type: 'refusal', text }));
  return fc
    .record({
      reasoning: reasoning ? fc.option(reasoning, { nil: undefined }) : none,
      said: fc.option(
        'refusals' in features ? fc.oneof(textPart(features), refusal) : textPart(features),
        {
          nil: undefined,
        },
      ),
      calls: fc.array(callArbitrary, { maxLength: 3 }),
      stop: fc.constantFrom(...stops),
      usage: usageArbitrary,
    })
    .map(({ reasoning: thought, said, calls, stop, usage }) => {
      const parts: Part[] = thought ? [thought] : [];
      if (said) parts.push(said);
      parts.push(...calls.map((call, index) => ({ ...call, id: `call_${index}` })));
      if (!said && calls.length === 0) parts.push({ type: 'text', text: 'fine' });
      return {
        id: 'answer-1',
        created: 1_700_000_000,
        parts,
        stop: { kind: calls.length > 0 ? ('tool_calls' as const) : stop },
        usage,
      };
    });
}

const logprobsArbitrary: fc.Arbitrary<readonly TokenLogprob[]> = fc.array(
  fc.record({
    token: fc.constantFrom('a', ' b', 'ü'),
    logprob: fc.constantFrom(-0.5, 0, -3.25),
    top: fc.constantFrom([], [{ token: 'a', logprob: -0.5 }]),
  }),
  { minLength: 1, maxLength: 3 },
);

const CITATION: Citation = { url: 'https://example.com/page', title: 'A page', start: 0, end: 1 };

/** Text, perhaps with a source, perhaps with probabilities. */
function textPart(features: FeatureFields): fc.Arbitrary<Part> {
  return fc
    .record({
      text: textArbitrary,
      citations:
        'citations' in features ? fc.option(fc.constant([CITATION]), { nil: undefined }) : none,
      logprobs: 'logprobs' in features ? fc.option(logprobsArbitrary, { nil: undefined }) : none,
    })
    .map(({ text, citations, logprobs }) => ({
      type: 'text',
      text,
      ...(citations && { citations }),
      ...(logprobs && { logprobs }),
    }));
}

const usageArbitrary: fc.Arbitrary<Usage> = fc
  .tuple(fc.nat(5000), fc.nat(500), fc.nat(500), fc.nat(100))
  .map(([input, cacheRead, text, reasoning]) => ({
    ...NO_USAGE,
    input,
    cacheRead,
    output: text + reasoning,
    reasoning,
  }));

/** What a request is given to need each feature; features of answers alone have none. */
export const FEATURE_SAMPLES: Readonly<
  Partial<Record<Feature, (request: CanonicalRequest) => CanonicalRequest>>
> = {
  audio: saying({ type: 'audio', mediaType: 'audio/wav', data: PNG }),
  cache_control: saying({ type: 'text', text: 'cached', cache: { ttl: '5m' } }),
  documents: saying(DOCUMENT),
  document_names: saying(NAMED_DOCUMENT),
  document_urls: saying({
    type: 'document',
    source: { type: 'url', url: 'https://example.com/a.pdf' },
  }),
  frequency_penalty: asking({ frequencyPenalty: 0.5 }),
  image_detail: saying({
    type: 'image',
    source: { type: 'data', mediaType: 'image/png', data: PNG },
    detail: 'low',
  }),
  image_urls: saying({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
  images: saying({ type: 'image', source: { type: 'data', mediaType: 'image/png', data: PNG } }),
  json_output: asking({ output: { type: 'json' } }),
  logprobs: asking({ logprobs: 2 }),
  metadata: asking({ metadata: { team: 'search' } }),
  parallel_tool_calls: asking({ parallelToolCalls: false }),
  presence_penalty: asking({ presencePenalty: 0.5 }),
  reasoning_shown: asking({ reasoning: { effort: 'low', show: true } }),
  schema_description: asking({
    output: { type: 'schema', description: 'd', schema: { type: 'object' } },
  }),
  schema_name: asking({ output: { type: 'schema', name: 'n', schema: { type: 'object' } } }),
  schema_output: asking({ output: { type: 'schema', schema: { type: 'object' } } }),
  seed: asking({ seed: 7 }),
  service_tier: asking({ serviceTier: 'auto' }),
  stop_sequences: asking({ stop: ['END'] }),
  temperature_above_1: asking({ temperature: 1.5 }),
  tool_choice: asking({ toolChoice: { name: 'look' } }),
  top_k: asking({ topK: 40 }),
  user: asking({ user: 'u-1' }),
  verbosity: asking({ verbosity: 'low' }),
};

function asking(fields: Partial<CanonicalRequest>) {
  return (request: CanonicalRequest): CanonicalRequest => ({ ...request, ...fields });
}

/** A part at the end of the last turn. */
function saying(part: Part) {
  return (request: CanonicalRequest): CanonicalRequest => {
    const last = request.turns.at(-1) as Turn;
    const turns = [...request.turns.slice(0, -1), { ...last, parts: [...last.parts, part] }];
    return { ...request, turns };
  };
}

/** The plainest request that has tools. */
export const PLAIN_REQUEST: CanonicalRequest = {
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
  tools: [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }],
  maxOutputTokens: 2048,
  stream: false,
  unmapped: [],
};
