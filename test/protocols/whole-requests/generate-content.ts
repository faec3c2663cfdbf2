import * as fc from 'fast-check';
import { exactly, flag, made, one, SCHEMA, some, TEXT } from './shapes.ts';

const NAME = one('name_@');
const text = made({ text: TEXT });
const image = fc
  .oneof(
    made({
      inlineData: made({ mimeType: one('image/png'), data: one('~') }, { displayName: TEXT }),
    }),
    made({
      fileData: made(
        { fileUri: one('https://example.com/@.png') },
        { mimeType: one('image/png'), displayName: TEXT },
      ),
    }),
  )
  .chain((part) =>
    made(
      {},
      { mediaResolution: one({ level: 'MEDIA_RESOLUTION_LOW' }), videoMetadata: one({ fps: 2 }) },
    ).map((rest) => ({ ...part, ...rest })),
  );
const odd = fc.oneof(
  exactly({ executableCode: exactly({ language: one('PYTHON'), code: TEXT }) }),
  exactly({ codeExecutionResult: exactly({ outcome: one('OUTCOME_OK'), output: TEXT }) }),
);
const user = made({ role: one('user'), parts: some(fc.oneof(text, image), 4) });
const answer = made({
  role: one('model'),
  parts: some(
    fc.oneof(
      made({ text: TEXT }, { thoughtSignature: one('~') }),
      made({ text: TEXT, thought: one(true) }, { thoughtSignature: one('~') }),
      odd,
    ),
    4,
  ),
});

/** Call with its result; the name is the same in both. */
const round = fc
  .tuple(
    made(
      { name: one('look'), args: one({ city: 'city @' }) },
      { id: one('call-1'), willContinue: one(false) },
    ),
    fc.option(one('~')),
    made(
      {
        name: one('look'),
        response: one<object>(
          { output: 'out @' },
          { error: 'error @' },
          { rain: 'rain @', output: 'out @' },
        ),
      },
      {
        scheduling: one('SILENT'),
        willContinue: one(false),
        parts: some(
          made({
            inlineData: made({ mimeType: one('image/png'), data: one('~') }, { displayName: TEXT }),
          }),
          1,
        ),
      },
    ),
  )
  .map(([call, signature, response]) => [
    {
      role: 'model',
      parts: [{ functionCall: call, ...(signature && { thoughtSignature: signature }) }],
    },
    { role: 'user', parts: [{ functionResponse: response }] },
  ]);

const CONTENTS = fc
  .tuple(user, fc.option(answer), fc.option(round), user)
  .map(([first, answered, called, last]) => [
    first,
    ...(answered ? [answered, { role: 'user', parts: [{ text: 'go on @' }] }] : []),
    ...(called ?? []),
    last,
  ]);

/** Schema as the vendor's own clients write it. */
const OWN_SCHEMA = made(
  {
    type: one('OBJECT'),
    propertyOrdering: one(['area']),
    properties: one({
      city: { type: 'STRING', description: 'schema @', nullable: true },
      area: { type: 'STRING' },
    }),
  },
  {
    title: TEXT,
    example: TEXT,
  },
);

const tool = fc.oneof(
  made({
    functionDeclarations: some(
      made({ name: NAME }, { description: TEXT, parameters: OWN_SCHEMA }),
      1,
    ),
  }),
  made({
    functionDeclarations: some(
      made(
        { name: NAME },
        {
          description: TEXT,
          parametersJsonSchema: SCHEMA,
          response: OWN_SCHEMA,
          behavior: one('NON_BLOCKING'),
        },
      ),
      2,
    ),
  }),
  exactly({ googleSearch: made({}, { excludeDomains: one(['@.com']) }) }),
  exactly({ codeExecution: one({}) }),
);

const THINKING = made({}, { thinkingBudget: one(0, -1, 2000), includeThoughts: flag });
const LEVEL = made({}, { thinkingLevel: one('LOW', 'HIGH', 'MINIMAL'), includeThoughts: flag });

const OUTPUT = fc.oneof(
  one({}, { responseMimeType: 'application/json' }, { responseMimeType: 'text/plain' }),
  OWN_SCHEMA.map((schema) => ({ responseMimeType: 'application/json', responseSchema: schema })),
  SCHEMA.map((schema) => ({ responseMimeType: 'application/json', responseJsonSchema: schema })),
  one({ responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a @'] } }),
);

const SETTINGS = made(
  {},
  {
    temperature: one(0.25, 1.5),
    topP: one(0.5, 0.97),
    topK: one(7),
    maxOutputTokens: one(4000),
    stopSequences: some(TEXT, 2),
    seed: one(17),
    presencePenalty: one(0.5),
    frequencyPenalty: one(-0.5),
    responseModalities: one(['TEXT']),
    candidateCount: one(1),
    responseLogprobs: flag,
    logprobs: one(3),
    thinkingConfig: fc.oneof(THINKING, LEVEL),
    speechConfig: one({ languageCode: 'de-@' }),
    mediaResolution: one('MEDIA_RESOLUTION_LOW'),
    enableEnhancedCivicAnswers: flag,
  },
);

const CONFIG = fc.tuple(OUTPUT, SETTINGS).map(([output, settings]) => ({ ...settings, ...output }));

export const GENERATE_CONTENT_BODY = made(
  { contents: CONTENTS },
  {
    systemInstruction: made({ parts: some(text, 2) }, { role: one('system') }),
    generationConfig: CONFIG,
    tools: some(tool),
    toolConfig: made(
      {},
      {
        functionCallingConfig: made(
          { mode: one('AUTO', 'ANY', 'NONE', 'VALIDATED') },
          { allowedFunctionNames: one(['name_a'], ['name_a', 'name_b']) },
        ),
        retrievalConfig: one({ languageCode: 'de-@' }),
      },
    ),
    safetySettings: one([{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }]),
    labels: one({ team: 'team @' }),
  },
);
