import { describe, expect, it } from 'vitest';
import { scanJson } from '../../src/core/json/json-document.ts';
import type { Turn } from '../../src/protocols/canonical/canonical.ts';
import type { CanonicalCodec } from '../../src/protocols/canonical/codec.ts';
import { chatCodec } from '../../src/protocols/chat/codec/chat-codec.ts';
import { generateContentCodec } from '../../src/protocols/generate-content/codec/generate-content-codec.ts';
import { messagesCodec } from '../../src/protocols/messages/codec/messages-codec.ts';
import { responsesCodec } from '../../src/protocols/responses/codec/responses-codec.ts';
import { encodeOptions, fakePeek } from '../support/protocols.ts';

const COUNT = 6_000;
/** Elements that one step takes at most. */
const ELEMENTS = 64;
const said = Array.from({ length: COUNT }, (_, index) => ({
  role: index % 2 ? 'assistant' : 'user',
  content: 'a',
}));
const contents = said.map(({ role }) => ({
  role: role === 'user' ? role : 'model',
  parts: [{ text: 'a' }],
}));

const ROWS: [CanonicalCodec, object][] = [
  [chatCodec, { model: 'm', messages: said }],
  [messagesCodec, { model: 'm', max_tokens: 5, messages: said }],
  [responsesCodec, { model: 'm', input: said }],
  [generateContentCodec, { contents }],
];

describe.each(ROWS)('$id', (codec, body) => {
  it('reads a long conversation in steps of some messages, in each pass over it', () => {
    const bytes = Buffer.from(JSON.stringify(body));
    const steps = codec.decodeRequest(fakePeek({ body: bytes, json: scanJson(bytes) }));
    let count = 0;
    for (let step = steps.next(); ; step = steps.next(), count++) {
      if (!step.done) continue;
      expect(step.value.turns).toHaveLength(COUNT);
      break;
    }
    // Names what is lost, reads, and looks for results without calls.
    expect(count).toBeGreaterThanOrEqual(3 * Math.floor(COUNT / ELEMENTS));
  });

  it('writes a long conversation in steps of some turns', () => {
    let reads = 0;
    const parts = [{ type: 'text', text: 'a' }] as const;
    const turns = said.map(({ role }): Turn => {
      const counted = {
        role: role as Turn['role'],
        get parts() {
          reads++;
          return parts;
        },
      };
      return counted;
    });
    const request = { turns, tools: [], stream: false, unmapped: [] };
    const steps = codec.encodeRequest(request, encodeOptions());
    let most = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) {
      most = Math.max(most, reads);
      reads = 0;
    }
    expect(step.value.value).toBeDefined();
    // Each pass looks at the parts of a turn a few times.
    expect(Math.max(most, reads)).toBeLessThanOrEqual(6 * ELEMENTS);
  });
});
