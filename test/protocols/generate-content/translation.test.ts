import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../../../src/core/errors.ts';
import type { CanonicalRequest } from '../../../src/protocols/canonical/canonical.ts';
import { generateContentCodec as codec } from '../../../src/protocols/generate-content/codec/generate-content-codec.ts';
import { peekGenerateContent } from '../../../src/protocols/generate-content/generate-content-request.ts';
import { framesOf, toText } from '../codec-laws.ts';
import { decodeAnswer, decodeRequest, encodeRequest } from '../../support/protocols.ts';
import { verifies } from '../../requirements.ts';

const read = (body: object | string): CanonicalRequest =>
  decodeRequest(
    codec,
    peekGenerateContent(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), {
      model: 'acme/one',
      operation: 'generateContent',
    }),
  );

function refusal(body: object): unknown {
  try {
    read(body);
    return undefined;
  } catch (thrown) {
    const { code, param } = thrown as GatewayError;
    return [code, param];
  }
}

const write = (request: Partial<CanonicalRequest>, model = 'gemini-3-pro'): any => {
  const whole = { turns: [], tools: [], stream: false, unmapped: [], ...request };
  const target = { model, defaultMaxTokens: 1000, askUsage: true };
  return JSON.parse(toText(encodeRequest(codec, whole, target).value));
};

describe('a request of a client', () => {
  it('keeps arguments and results as they are spelled, and pairs calls that have no id', () => {
    const { turns } = read(
      '{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":1.0,"big":1152921504606846977}}},{"function_call":{"name":"g"}},{"functionCall":{"name":"f","id":"call_1","args":{}}}]},{"parts":[{"functionResponse":{"name":"g","response":{"v":1.0}}},{"functionResponse":{"name":"f","response":{"output":"ok"}}},{"functionResponse":{"name":"f","id":"call_1","response":{"error":"no"}}},{"text":"next"}]}]}',
    );
    const text = (value: string) => [{ type: 'text', text: value }];
    expect(turns.slice(1)).toEqual([
      {
        role: 'assistant',
        parts: [
          {
            type: 'tool_call',
            id: 'call_2',
            name: 'f',
            arguments: '{"n":1.0,"big":1152921504606846977}',
          },
          { type: 'tool_call', id: 'call_3', name: 'g', arguments: '{}' },
          { type: 'tool_call', id: 'call_1', name: 'f', arguments: '{}' },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_result',
            callId: 'call_3',
            name: 'g',
            content: text('{"v":1.0}'),
            isError: false,
          },
          { type: 'tool_result', callId: 'call_2', name: 'f', content: text('ok'), isError: false },
          { type: 'tool_result', callId: 'call_1', name: 'f', content: text('no'), isError: true },
        ],
      },
      { role: 'user', parts: text('next') },
    ]);
  });

  it('joins what a client kept of a stream piece by piece', () => {
    const model = (...parts: object[]): object => ({ role: 'model', parts });
    const { turns } = read({
      contents: [
        { role: 'user', parts: [{ text: 'go' }] },
        model({ text: 'let me ', thought: true }),
        model(
          { text: 'think', thought: true },
          { text: '', thought: true, thoughtSignature: 'c2ln' },
        ),
        model({ text: 'He' }),
        model({ text: 'llo' }, { text: '' }),
        model({ functionCall: { id: 'c1', name: 'f', args: {} }, thoughtSignature: 'Y2FsbA==' }),
      ],
    });
    const own = (value: string) => ({ origin: 'generate-content', value });
    expect(turns[1]?.parts).toEqual([
      { type: 'reasoning', text: 'let me think', signature: own('c2ln') },
      { type: 'text', text: 'Hello' },
      { type: 'reasoning', text: '', signature: own('Y2FsbA=='), ofNext: true },
      { type: 'tool_call', id: 'c1', name: 'f', arguments: '{}' },
    ]);
  });

  it('has its schemas in the words of JSON Schema', () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        type: { type: 'STRING', format: 'enum', enum: ['OBJECT', 'B'], nullable: true },
        args: { type: 'ARRAY', items: { type: 'INTEGER' }, minItems: '1' },
      },
      propertyOrdering: ['type', 'args'],
      required: ['type'],
    };
    const declaration = { name: 'f', description: 'does', parameters };
    const [tool] = read({ tools: [{ function_declarations: [declaration] }] }).tools;
    expect(tool).toEqual({
      type: 'function',
      name: 'f',
      description: 'does',
      parameters: {
        type: 'object',
        properties: {
          type: { type: ['string', 'null'], enum: ['OBJECT', 'B'] },
          args: { type: 'array', items: { type: 'integer' }, minItems: 1 },
        },
        required: ['type'],
      },
    });
  });

  it(verifies('gencontent.body.all-optional', 'has keywords of schemas in either spelling'), () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        min_items: { any_of: [{ type: 'STRING', max_length: '5' }, { ref: '#/$defs/max_items' }] },
        b: { type: 'ARRAY', min_items: 1, max_items: '3', prefix_items: [{ type: 'STRING' }] },
      },
      property_ordering: ['b', 'min_items'],
      additional_properties: false,
      min_properties: '1',
      defs: { max_items: { type: 'INTEGER' } },
    };
    const [tool] = read({ tools: [{ functionDeclarations: [{ name: 'f', parameters }] }] }).tools;
    expect(tool).toMatchObject({
      parameters: {
        type: 'object',
        properties: {
          min_items: { anyOf: [{ type: 'string', maxLength: 5 }, { $ref: '#/$defs/max_items' }] },
          b: { type: 'array', minItems: 1, maxItems: 3, prefixItems: [{ type: 'string' }] },
        },
        additionalProperties: false,
        minProperties: 1,
        $defs: { max_items: { type: 'integer' } },
      },
    });
    expect(JSON.stringify(tool)).not.toMatch(/_items":\d|any_of|property_ordering|"defs"/);
  });

  it('says what it asks for and names what nobody else has', () => {
    const request = read({
      generation_config: {
        temperature: 0.5,
        topP: 0.9,
        top_k: 3,
        max_output_tokens: 100,
        stop_sequences: ['END'],
        response_mime_type: 'application/json',
        response_schema: { type: 'STRING' },
        thinkingConfig: { thinkingBudget: 0, includeThoughts: false },
        responseModalities: ['text'],
        candidateCount: 1,
        speechConfig: {},
      },
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f', 'g'] } },
      tools: [{ googleSearch: {} }],
      safetySettings: [],
      labels: { a: 'b' },
      contents: [{ parts: [{ text: 'hi', videoMetadata: {} }, { executableCode: { code: '1' } }] }],
    });
    expect(request).toMatchObject({
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      maxOutputTokens: 100,
      stop: ['END'],
      output: { type: 'schema', schema: { type: 'string' } },
      reasoning: { enabled: false, show: false },
      toolChoice: 'required',
      turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    });
    expect([...request.unmapped].sort()).toEqual([
      'contents[0].parts[0].videoMetadata',
      'contents[0].parts[1].executableCode',
      'generation_config.speechConfig',
      'labels',
      'safetySettings',
      'tools[0].googleSearch',
    ]);
  });

  it('is refused by field where the contract refuses it or a type is wrong', () => {
    const parts = (...all: object[]): object => ({ contents: [{ parts: all }] });
    const config = (generationConfig: object): object => ({ generationConfig });
    const file = (fileUri: string, mimeType?: string): object =>
      parts({ fileData: { fileUri, mimeType } });
    const uri = 'contents[0].parts[0].fileData.fileUri';
    const cases: [object, string, string][] = [
      [
        parts({ text: 'a' }, { inlineData: { mimeType: 'application/pdf', data: 'A' } }),
        'unsupported_feature',
        'contents[0].parts[1].inlineData.mimeType',
      ],
      [
        parts({ inline_data: { mime_type: 'audio/wav', data: 'A' } }),
        'unsupported_feature',
        'contents[0].parts[0].inlineData.mimeType',
      ],
      [file('gs://bucket/a.png', 'image/png'), 'unsupported_feature', uri],
      [
        file('https://generativelanguage.googleapis.com/v1beta/files/abc', 'image/png'),
        'unsupported_feature',
        uri,
      ],
      [file('files/abc', 'image/png'), 'unsupported_feature', uri],
      [
        file('https://example.com/a.mp4', 'video/mp4'),
        'unsupported_feature',
        'contents[0].parts[0].fileData.mimeType',
      ],
      [config({ candidateCount: 2 }), 'unsupported_feature', 'generationConfig.candidateCount'],
      [
        config({ response_modalities: ['TEXT', 'IMAGE'] }),
        'unsupported_feature',
        'generationConfig.responseModalities',
      ],
      [{ cachedContent: 'cachedContents/1' }, 'unsupported_feature', 'cachedContent'],
      [config({ temperature: '1' }), 'invalid_request', 'generationConfig.temperature'],
      [config({ stopSequences: 'END' }), 'invalid_request', 'generationConfig.stopSequences'],
      [
        parts({ functionResponse: { name: 'f', response: [1] } }),
        'invalid_request',
        'contents[0].parts[0].functionResponse.response',
      ],
      [parts({ functionCall: { name: 'f' } }), 'invalid_request', 'contents[0].role'],
      [{ contents: [{ role: 'system', parts: [] }] }, 'invalid_request', 'contents[0].role'],
      [
        { tools: [{ functionDeclarations: [{}] }] },
        'invalid_request',
        'tools[0].functionDeclarations[0].name',
      ],
    ];
    for (const [body, ...expected] of cases) expect(refusal(body)).toEqual(expected);
    expect(refusal(file('https://example.com/a'))).toBeUndefined();
    expect(refusal(parts({ inlineData: { mimeType: 'image/x-any', data: 'A' } }))).toBeUndefined();
  });
});

describe('a request to a provider', () => {
  it('has the results of a round and what follows in one content, with the names of their calls', () => {
    const result = (callId: string): any => ({
      role: 'tool',
      parts: [
        { type: 'tool_result', callId, content: [{ type: 'text', text: 'ok' }], isError: false },
      ],
    });
    const { contents } = write({
      turns: [
        { role: 'user', parts: [{ type: 'text', text: 'go' }] },
        {
          role: 'assistant',
          parts: [
            { type: 'tool_call', id: 'a', name: 'f', arguments: '{}' },
            { type: 'tool_call', id: 'b', name: 'g', arguments: '{"cut' },
          ],
        },
        result('a'),
        result('b'),
        { role: 'user', parts: [{ type: 'text', text: 'and?' }] },
      ],
    });
    expect(contents.map(({ role }: { role: string }) => role)).toEqual(['user', 'model', 'user']);
    expect(contents[1].parts[1]).toEqual({ functionCall: { id: 'b', name: 'g', args: {} } });
    expect(contents[2].parts).toEqual([
      { functionResponse: { id: 'a', name: 'f', response: { output: 'ok' } } },
      { functionResponse: { id: 'b', name: 'g', response: { output: 'ok' } } },
      { text: 'and?' },
    ]);
  });

  it('gives back its own signatures and leaves out reasoning that another provider signed', () => {
    const reasoning = (origin: 'messages' | 'generate-content', ofNext: boolean): any => ({
      type: 'reasoning',
      text: ofNext ? '' : 'hm',
      signature: { origin, value: 'c2ln' },
      ofNext,
    });
    const call: any = { type: 'tool_call', id: 'a', name: 'f', arguments: '{}' };
    const parts = (...all: any[]): any =>
      write({
        turns: [
          { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
          { role: 'assistant', parts: all },
        ],
      }).contents[1].parts;
    expect(parts(reasoning('generate-content', true), call)[0]).toMatchObject({
      functionCall: { name: 'f' },
      thoughtSignature: 'c2ln',
    });
    expect(parts(reasoning('messages', false), reasoning('messages', true), call)).toEqual([
      {
        functionCall: { id: 'a', name: 'f', args: {} },
        thoughtSignature: 'skip_thought_signature_validator',
      },
    ]);
  });

  it('asks for thinking in the words that the model knows', () => {
    const thinking = (reasoning: CanonicalRequest['reasoning'], model?: string): unknown =>
      write({ ...(reasoning && { reasoning }) }, model).generationConfig.thinkingConfig;
    expect(thinking({ effort: 'low', show: true })).toEqual({
      thinkingLevel: 'LOW',
      includeThoughts: true,
    });
    expect(thinking({ effort: 'xhigh' })).toEqual({ thinkingLevel: 'HIGH' });
    expect(thinking({ effort: 'medium' }, 'gemini-2.5-flash')).toEqual({ thinkingBudget: 8192 });
    expect(thinking({ effort: 'high', budgetTokens: 4000 })).toEqual({ thinkingBudget: 4000 });
    expect(thinking({ effort: 'none' })).toEqual({ thinkingLevel: 'LOW' });
    expect(thinking({ effort: 'none' }, 'gemini-2.5-flash')).toEqual({ thinkingBudget: 0 });
    expect(thinking({ enabled: true })).toEqual({ thinkingBudget: -1 });
  });
});

describe('an answer of a provider', () => {
  const readAnswer = (value: object) => decodeAnswer(codec, JSON.stringify(value));
  const said = (parts: object[], rest: object = {}): object => ({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', ...rest }],
  });

  it('tells why it stopped', () => {
    const kind = (finishReason: string, parts: object[] = [{ text: 'a' }]): unknown =>
      readAnswer(said(parts, { finishReason }))?.stop.kind;
    expect(kind('STOP')).toBe('end');
    expect(kind('STOP', [{ functionCall: { name: 'f' } }])).toBe('tool_calls');
    expect(kind('MAX_TOKENS')).toBe('length');
    for (const reason of ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'])
      expect(kind(reason)).toBe('refusal');
    expect(kind('MALFORMED_FUNCTION_CALL')).toBe('malformed_call');
    expect(kind('SOMETHING_NEW')).toBe('other');
    expect(readAnswer({ promptFeedback: { blockReason: 'OTHER' } })?.stop).toEqual({
      kind: 'refusal',
      raw: 'OTHER',
    });
    expect(readAnswer({ error: { code: 500 } })).toBeUndefined();
    expect(readAnswer({})).toBeUndefined();
  });

  it('gives calls without ids some that no other answer has', () => {
    const ids = (responseId: string): unknown => {
      const calls = [{ functionCall: { name: 'f' } }, { functionCall: { name: 'f' } }];
      const parts = readAnswer({ ...said(calls), responseId })?.parts ?? [];
      return parts.map((part) => part.type === 'tool_call' && part.id);
    };
    const all = [ids('a'), ids('b')].flat();
    expect(new Set(all).size).toBe(4);
    expect(all.every((id) => /^call_[0-9a-f]{24}$/.test(String(id)))).toBe(true);
    expect(ids('a')).toEqual(all.slice(0, 2));
  });

  it('tells its sources where they stand in characters, whole or streamed', () => {
    const text = 'Zürich ist 🌍 groß.';
    const grounded = said([{ text: 'hm', thought: true }, { text }], {
      groundingMetadata: {
        groundingChunks: [
          { web: { uri: 'https://a.example', title: 'A' } },
          { web: { uri: 'https://b.example' } },
        ],
        groundingSupports: [
          { segment: { endIndex: 7, text: 'Zürich' }, groundingChunkIndices: [0] },
          { segment: { startIndex: 12, endIndex: 16 }, groundingChunkIndices: [0, 9] },
        ],
      },
      citationMetadata: {
        citationSources: [{ startIndex: 1, endIndex: 3, uri: 'https://c.example' }],
      },
    });
    const citations = [
      { url: 'https://a.example', title: 'A', start: 0, end: 6, quote: 'Zürich' },
      { url: 'https://a.example', title: 'A', start: 11, end: 13 },
      { url: 'https://b.example' },
      { url: 'https://c.example', start: 1, end: 2 },
    ];
    expect(readAnswer(grounded)?.parts[1]).toEqual({ type: 'text', text, citations });
    const decoder = codec.createDecoder();
    const [frame] = framesOf(Buffer.from(`data: ${JSON.stringify(grounded)}\n\n`));
    const events = frame ? [...decoder.read(frame), ...decoder.close()] : [];
    const told = events.flatMap((event) => (event.type === 'citation' ? [event.citation] : []));
    expect(told).toEqual(citations);
  });
});

describe('arguments that are no object', () => {
  const broken = '{"cut';

  it('are named as lost, in requests and in streams', () => {
    const lossesOf = (text: string): readonly string[] => {
      const part = { type: 'tool_call', id: 'a', name: 'f', arguments: text } as const;
      const turns = [{ role: 'assistant', parts: [part] }] as const;
      const request = { turns, tools: [], stream: false, unmapped: [] };
      const target = { model: 'm', defaultMaxTokens: 1000, askUsage: true };
      return encodeRequest(codec, request, target).losses;
    };
    expect(['{"n":1}', '', broken].map(lossesOf)).toEqual([[], [], ['tool_arguments']]);
    const peek = peekGenerateContent(Buffer.from('{}'), { model: 'm' });
    const encoder = codec.createEncoder({ model: 'm', id: 'x', created: 0, keepUsage: true, peek });
    encoder.write({ type: 'open', part: 0, opening: { type: 'tool_call', id: 'a', name: 'f' } });
    encoder.write({ type: 'delta', part: 0, text: broken });
    encoder.write({ type: 'close', part: 0 });
    expect([...encoder.losses]).toEqual(['tool_arguments']);
  });
});
