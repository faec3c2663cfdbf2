import { Buffer } from 'node:buffer';
import { atOnce, inTurns } from '../core/in-turns.ts';
import type { Steps } from '../core/in-turns.ts';
import { quirkEdits } from '../core/json-quirks.ts';
import { RawJson, stringifyWithRaw } from '../core/json-raw.ts';
import { JsonDocument, scanJson } from '../core/json/json-document.ts';
import { spliceJson } from '../core/json-splice.ts';
import { bindPart, withoutOtherAccounts } from './bound-reasoning.ts';
import type { AnswerContext, CanonicalCodec, Encoded } from './canonical-codec.ts';
import type { Part } from './canonical.ts';
import type { Feature } from './features.ts';
import { fieldsOf } from './pair-losses.ts';
import type { Answer, AnswerOptions, EncodeOptions, RequestPeek, Wire } from './protocol.ts';
import { isTooDeep, TranslatedStream } from './translated-stream.ts';

/**
 * How requests of one protocol are spoken to providers of another: through the canonical form in both
 * directions (design: inference, Canonical form). What is lost is told in the client's field names.
 */
export function translateBetween(client: CanonicalCodec, provider: CanonicalCodec): Wire {
  const contextOf = (peek: RequestPeek, options: AnswerOptions): AnswerContext => ({
    model: peek.model,
    id: options.id,
    created: options.created,
    keepUsage: peek.keepUsage,
    peek,
  });
  const fields = fieldsOf(client);
  const namesOf = (losses: readonly Feature[]): string[] => [
    ...new Set(losses.map((feature) => fields[feature] ?? feature)),
  ];
  function* encodeSteps(peek: RequestPeek, options: EncodeOptions): Steps<Buffer> {
    void peek.json.value;
    yield;
    const asked = client.decodeRequest(peek);
    yield;
    const readable = withoutOtherAccounts(asked, options.account);
    const encoded = provider.encodeRequest(readable ?? asked, options);
    const losses: Feature[] = readable ? ['reasoning_signatures'] : [];
    const lost = new Set([...asked.unmapped, ...namesOf([...losses, ...encoded.losses])]);
    for (const name of lost) options.losses.push(name);
    yield;
    const text = toText(encoded);
    yield;
    return withQuirks(Buffer.from(text), options);
  }
  return {
    id: provider.id,
    readsRequest: client.repeatsRequest,
    encode: (peek, options) => atOnce(encodeSteps(peek, options)),
    encodeInTurns: async (peek, options) => inTurns(encodeSteps(peek, options)),
    parsesAnswers: true,
    readAnswer(source, peek, options): Answer | undefined {
      const body = source instanceof JsonDocument ? source.body : source;
      try {
        const answer = provider.decodeAnswer(body.toString('utf8'));
        if (!answer) return undefined;
        const parts = answer.parts.map((part) => bindPart(part, options.account));
        const encoded = client.encodeAnswer({ ...answer, parts }, contextOf(peek, options));
        return {
          body: Buffer.from(toText(encoded)),
          usage: answer.usage,
          outputChars: sizeOf(answer.parts),
          losses: namesOf(encoded.losses),
        };
      } catch (thrown) {
        if (isTooDeep(thrown)) return undefined;
        throw thrown;
      }
    },
    createStream: (options) =>
      new TranslatedStream({
        decoder: provider.createDecoder(),
        encoder: client.createEncoder(contextOf(options.peek, options)),
        account: options.account,
        fields,
      }),
  };
}

function toText({ value }: Encoded): string {
  return value instanceof RawJson ? value.text : stringifyWithRaw(value);
}

function withQuirks(body: Buffer, { quirks }: EncodeOptions): Buffer {
  if (quirks === undefined) return body;
  const { members } = scanJson(body);
  return spliceJson(body, members, quirkEdits(members, quirks));
}

/** What was generated, in characters; the basis of an estimate where the provider tells no usage. */
function sizeOf(parts: readonly Part[]): number {
  return parts.reduce((size, part) => {
    if (part.type === 'tool_call') return size + part.arguments.length;
    return 'text' in part ? size + part.text.length : size;
  }, 0);
}
