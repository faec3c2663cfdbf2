import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { boundInput } from '../../src/protocols/bound-input.ts';
import { scanRequest } from '../../src/protocols/scan-request.ts';

const bound = (body: object): number => boundInput(scanRequest(Buffer.from(JSON.stringify(body))));
const content = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });

describe('the most tokens of a prompt', () => {
  it.each<object>([
    { input: 'hi', previous_response_id: null },
    { messages: [{ role: 'user', content: 'see https://a.test and "file_id": "x"' }] },
    { messages: [{ role: 'user', content: 'https://a.test/is/a/text' }] },
    { tools: [{ parameters: { properties: { file_id: { type: 'string' }, url: {} } } }] },
    { input: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] },
    content({ type: 'tool_use', id: 'a', name: 'fetch', input: { url: 'https://a.test/x' } }),
    content({
      type: 'web_search_tool_result',
      content: [{ type: 'web_search_result', url: 'https://a.test/x' }],
    }),
    {
      input: [
        { type: 'output_text', annotations: [{ type: 'url_citation', url: 'https://a.test' }] },
        { type: 'document', source: { type: 'base64', data: 'AAAA' } },
      ],
    },
  ])('is the bytes of %j', (body) => {
    expect(bound(body)).toBe(JSON.stringify(body).length);
  });

  it.each<object>([
    content({ type: 'image_url', image_url: { url: 'https://a.test/x.png' } }),
    { input: [{ type: 'input_image', image_url: 'http://a.test/x.png' }] },
    content({ type: 'image', source: { type: 'url', url: 'https://a.test/x.png' } }),
    { input: [{ type: 'image', uri: 'https://a.test/x.png' }] },
  ])('counts the picture that is fetched for %j', (body) => {
    expect(bound(body)).toBe(JSON.stringify(body).length + 16_384);
  });

  it.each<object>([
    { input: 'hi', previous_response_id: 'resp_1' },
    { input: 'hi', conversation: { id: 'conv_1' } },
    { prompt: { id: 'pmpt_1' } },
    { input: 'hi', previous_interaction_id: 'v1_x' },
    { contents: [], cachedContent: 'cachedContents/1' },
    { input: [{ type: 'item_reference', id: 'rs_1' }] },
    { input: [{ type: 'input_file', file_id: 'file_1' }] },
    { input: [{ type: 'input_file', file_url: 'https://a.test/x.pdf' }] },
    content({ type: 'file', file: { file_id: 'file_1' } }),
    content({ type: 'document', source: { type: 'url', url: 'https://a.test/x.pdf' } }),
    { contents: [{ parts: [{ fileData: { fileUri: 'gs://bucket/x.mp4' } }] }] },
    { input: [{ type: 'document', uri: 'https://a.test/x.pdf' }] },
  ])('has no bound in what the provider keeps or fetches for %j', (body) => {
    expect(bound(body)).toBe(Infinity);
  });

  it('has no bound either where letters of names are escaped', () => {
    const body = '{"input":[{"type":"input_file","fil\\u0065_id":"file_1"}]}';
    expect(boundInput(scanRequest(Buffer.from(body)))).toBe(Infinity);
  });
});
