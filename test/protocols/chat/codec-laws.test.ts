import * as fc from 'fast-check';
import type { ReasoningPart } from '../../../src/protocols/canonical/canonical.ts';
import { chatCodec } from '../../../src/protocols/chat/codec/chat-codec.ts';
import { peekChat } from '../../../src/protocols/chat/chat-request.ts';
import { textArbitrary } from '../canonical-arbitraries.ts';
import { testCodecLaws } from '../codec-laws.ts';

const signed = (text: string, value: object): ReasoningPart => ({
  type: 'reasoning',
  text,
  signature: { origin: 'chat', value: JSON.stringify(value) },
});

testCodecLaws(chatCodec, {
  peek: peekChat,
  reasoning: fc.oneof(
    textArbitrary.map((text) => signed(text, {})),
    textArbitrary.map((text) =>
      signed(text, { type: 'reasoning.text', index: 0, signature: 'sig==', format: 'f-v1' }),
    ),
    fc.constant(signed('', { type: 'reasoning.encrypted', data: 'AAAA', id: 'rs_1', index: 0 })),
  ),
  stops: ['end', 'length', 'refusal'],
});
