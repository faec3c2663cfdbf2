import * as fc from 'fast-check';
import type {
  CanonicalRequest,
  MediaSource,
  Part,
  ReasoningPart,
} from '../../../src/protocols/canonical/canonical.ts';
import { generateContentCodec } from '../../../src/protocols/generate-content/codec/generate-content-codec.ts';
import { readGenerateContentRequest } from '../../../src/protocols/generate-content/codec/read-request.ts';
import { peekGenerateContent } from '../../../src/protocols/generate-content/generate-content-request.ts';
import { textArbitrary } from '../canonical-arbitraries.ts';
import { testCodecLaws } from '../codec-laws.ts';

const signature = { origin: 'generate-content', value: 'c2lnbmF0dXJl' } as const;

/** It names no schema and no file, and always the type of what lies at an address. */
function withoutNames(request: CanonicalRequest): CanonicalRequest {
  const { output } = request;
  const turns = request.turns.map((turn) => ({ ...turn, parts: turn.parts.map(plain) }));
  return { ...request, turns, ...(output && { output: { ...output, name: undefined } }) } as never;
}

function plain(part: Part): Part {
  if (part.type !== 'image' && part.type !== 'document') return part;
  const { name: _name, ...rest } = part as Part & { name?: string };
  return { ...rest, source: withoutType(part.source as MediaSource) } as Part;
}

function withoutType(source: MediaSource): MediaSource {
  return source.type === 'url' ? { type: 'url', url: source.url } : source;
}

testCodecLaws(
  // What the contract refuses to translate is refused before anything is read.
  { ...generateContentCodec, decodeRequest: readGenerateContentRequest },
  {
    peek: (body, stream) =>
      peekGenerateContent(body, {
        model: 'acme/one',
        operation: stream ? 'streamGenerateContent' : 'generateContent',
        query: 'alt=sse',
      }),
    normalizeRequest: withoutNames,
    reasoning: fc.oneof(
      textArbitrary.map((text): ReasoningPart => ({ type: 'reasoning', text })),
      textArbitrary.map((text): ReasoningPart => ({ type: 'reasoning', text, signature })),
      fc.constant<ReasoningPart>({ type: 'reasoning', text: '', signature, ofNext: true }),
      fc.constant<ReasoningPart>({ type: 'reasoning', text: '', signature }),
    ),
    stops: ['end', 'length', 'refusal', 'malformed_call', 'pause', 'other'],
  },
);
