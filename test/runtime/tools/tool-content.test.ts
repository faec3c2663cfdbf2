import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseKeepingDigits } from '../../../src/core/json/digits.ts';
import { fromMcpResult } from '../../../src/runtime/tools/tool-content.ts';

describe('results of tools', () => {
  it('hold no secret of the server, wherever it says it', () => {
    const secret = fc
      .string({ unit: 'grapheme', minLength: 8, maxLength: 60 })
      .filter((value) => !'[redacted]'.includes(value) && value.trim().length > 6);
    const word = fc.string({ unit: 'grapheme-ascii', maxLength: 20 });
    const words = fc.tuple(word, word);
    fc.assert(
      fc.property(secret, words, fc.nat(4), (value, [before, behind], way) => {
        const said = `${before}${value}${behind}`;
        const ways = [
          { content: [{ type: 'text', text: said }] },
          { content: [{ type: 'resource', resource: { uri: 'a://b', text: said } }] },
          { content: [{ type: 'resource_link', uri: 'a://b', name: said }] },
          { structuredContent: { deep: [{ [said]: said }] } },
          { content: [{ type: 'text', text: `${'x'.repeat(262_140)}${said}` }] },
        ];
        const { content } = fromMcpResult(ways[way] ?? {}, [value]);
        const texts = content.map((block) => String(block['text']));
        for (const spelled of [value, JSON.stringify(value).slice(1, -1)])
          expect(texts.join('\n')).not.toContain(spelled);
        expect(texts.join('')).toMatch(/\[redacted\]|\(cut off\)$/);
      }),
    );
  });

  it('without content tell what is structured', () => {
    expect(fromMcpResult({ content: [], structuredContent: { a: 1 } }).content).toEqual([
      { type: 'text', text: '{"a":1}' },
    ]);
  });

  it('without content keep the digits of what is structured', () => {
    const text = '{"id":2512292042121000001,"n":1.0}';
    for (const structuredContent of [parseKeepingDigits(text), text])
      expect(fromMcpResult({ structuredContent }).content).toEqual([{ type: 'text', text }]);
  });

  it('are cut off where no model reads any more', () => {
    const text = 'x'.repeat(200 * 1024);
    const { content } = fromMcpResult({
      content: [
        { type: 'text', text },
        { type: 'text', text },
        { type: 'text', text },
      ],
    });
    const lengths = content.map((block) => String(block['text']).length);
    expect(lengths[0]).toBe(text.length);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(257 * 1024);
    expect(content[1]?.['text']).toContain('(cut off)');
  });

  it('tell of media that models cannot be shown', () => {
    const { content } = fromMcpResult({
      content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }],
    });
    expect(content).toEqual([
      { type: 'text', text: '{"type":"audio","data":"…","mimeType":"audio/wav"}' },
    ]);
  });

  it('hold so many parts and so large images as fit into an event', () => {
    const parts = Array.from({ length: 1_000 }, () => ({ type: 'text', text: '' }));
    const { content: many } = fromMcpResult({ content: parts });
    expect(many).toHaveLength(257);
    expect(many.at(-1)?.['text']).toContain('744 further parts');
    const image = { type: 'image', data: 'A'.repeat(5 * 1024 * 1024), mimeType: 'image/png' };
    const { content } = fromMcpResult({ content: [image, image] });
    expect(content.map(({ type }) => type)).toEqual(['image', 'text']);
  });

  it.each([
    ['image/svg+xml', 'AAAA'],
    ['image/png', 'not base64!'],
    ['image/png', ''],
    [undefined, 'AAAA'],
  ])('tell of an image that no provider takes: %s %s', (mimeType, data) => {
    const { content } = fromMcpResult({ content: [{ type: 'image', data, mimeType }] });
    expect(content).toMatchObject([{ type: 'text' }]);
  });
});
