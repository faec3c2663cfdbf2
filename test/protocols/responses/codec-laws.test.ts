import * as fc from 'fast-check';
import type { ReasoningPart } from '../../../src/protocols/canonical/canonical.ts';
import { responsesCodec } from '../../../src/protocols/responses/codec/responses-codec.ts';
import { peekResponses } from '../../../src/protocols/responses/responses-request.ts';
import { textArbitrary } from '../canonical-arbitraries.ts';
import { testCodecLaws } from '../codec-laws.ts';

const signed = (text: string): ReasoningPart => ({
  type: 'reasoning',
  text,
  signature: {
    origin: 'responses',
    value: JSON.stringify({ id: 'rs_1', encrypted_content: 'gAAAAB==' }),
  },
});

testCodecLaws(responsesCodec, {
  peek: peekResponses,
  reasoning: fc.oneof(textArbitrary.map(signed), fc.constant(signed(''))),
  stops: ['end', 'length', 'refusal'],
});
