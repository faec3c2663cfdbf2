import { describe, expect, it } from 'vitest';
import { fromMcpResult } from '../../../src/runtime/tools/tool-content.ts';

describe('results of tools', () => {
  it('without content tell what is structured', () => {
    expect(fromMcpResult({ content: [], structuredContent: { a: 1 } }).content).toEqual([
      { type: 'text', text: '{"a":1}' },
    ]);
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
});
