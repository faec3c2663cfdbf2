import * as fc from 'fast-check';
import type {
  CanonicalAnswer,
  CanonicalRequest,
  ReasoningPart,
} from '../../../src/protocols/canonical/canonical.ts';
import { messagesCodec } from '../../../src/protocols/messages/codec/messages-codec.ts';
import { peekMessages } from '../../../src/protocols/messages/messages-request.ts';
import { textArbitrary } from '../canonical-arbitraries.ts';
import { testCodecLaws } from '../codec-laws.ts';

const base64 = fc.base64String({ minLength: 4, maxLength: 24 });

const thinking = fc
  .record({ text: fc.oneof(fc.constant(''), textArbitrary), value: base64 })
  .map(({ text, value }): ReasoningPart => ({
    type: 'reasoning',
    text,
    signature: { origin: 'messages', value },
  }));

const redacted = base64.map((data): ReasoningPart => ({
  type: 'reasoning',
  text: '',
  signature: { origin: 'messages', value: JSON.stringify({ redacted: data }) },
}));

/** An effort asks for reasoning, one call at a time is a choice of tools, and schemas have no names. */
function normalizeRequest(request: CanonicalRequest): CanonicalRequest {
  const { reasoning, parallelToolCalls, output } = request;
  return {
    ...request,
    ...(reasoning?.effort && { reasoning: { ...reasoning, enabled: true } }),
    ...(parallelToolCalls === false && { toolChoice: request.toolChoice ?? 'auto' }),
    ...(output?.type === 'schema' && { output: { type: 'schema', schema: output.schema } }),
  };
}

/** Nothing counted is nothing told. */
function normalizeAnswer(answer: CanonicalAnswer): CanonicalAnswer {
  const { usage } = answer;
  const isEmpty = usage && usage.input + usage.cacheRead + usage.output === 0;
  return isEmpty ? { ...answer, usage: undefined } : answer;
}

testCodecLaws(messagesCodec, {
  peek: peekMessages,
  reasoning: fc.oneof(thinking, redacted),
  stops: ['end', 'length', 'stop_sequence', 'refusal', 'pause', 'context_exceeded'],
  normalizeRequest,
  normalizeAnswer,
});
