import { Buffer } from 'node:buffer';
import { atOnce, inTurns, LONG_BYTES } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import { quirkEdits } from '../../core/json/json-quirks.ts';
import { RawJson, stringifyWithRaw } from '../../core/json/raw.ts';
import { scanJson } from '../../core/json/json-document.ts';
import { parseSteps } from '../../core/json/parse-steps.ts';
import { writeSteps } from '../../core/json/write-steps.ts';
import { spliceJson } from '../../core/json/splice.ts';
import { answerDocument } from '../answer-document.ts';
import { withOwnName } from '../capabilities/name-bounds.ts';
import type { OwnNames } from '../capabilities/name-bounds.ts';
import { bindPart, withoutOthersReasoning } from './bound-reasoning.ts';
import type { AnswerContext, CanonicalCodec, Encoded } from './codec.ts';
import type { CanonicalRequest, Part } from './canonical.ts';
import { asCustomCall } from './custom-calls.ts';
import type { Feature } from '../features.ts';
import { withOwnedSignatures } from './owned-signatures.ts';
import { fieldsOf } from './pair-losses.ts';
import type {
  Answer,
  AnswerOptions,
  EncodeOptions,
  RequestPeek,
  StreamOptions,
  Wire,
} from '../protocol.ts';
import { isTooDeep, TranslatedStream } from './translated-stream.ts';
import { UniqueIds } from './unique-ids.ts';

/**
 * Translates requests of one protocol for providers of another: through the canonical form in both
 * directions (design: inference, Canonical form). Losses are reported in the client's field names.
 */
export function translateBetween(client: CanonicalCodec, provider: CanonicalCodec): Wire {
  const pair: Pair = { client, provider, fields: fieldsOf(client), sent: new WeakMap() };
  return {
    id: provider.id,
    readsRequest: client.repeatsRequest,
    encode: (peek, options) => atOnce(encodeSteps(pair, peek, options)),
    encodeInTurns: async (peek, options) => inTurns(encodeSteps(pair, peek, options)),
    parsesAnswers: true,
    readAnswer(source, peek, options) {
      const document = answerDocument(source);
      if (!document) return undefined;
      const { body } = document;
      const steps = readSteps(pair, body, { peek, options });
      return body.length > LONG_BYTES ? inTurns(steps) : atOnce(steps);
    },
    readUsage: provider.readUsage,
    createStream: (options) =>
      new TranslatedStream({
        decoder: provider.createDecoder(),
        createEncoder: () => client.createEncoder(contextOf(options.peek, options)),
        provider: { ...options, protocol: provider.id },
        client,
        custom: options.peek.calls?.custom,
        names: pair.sent.get(options.peek)?.names,
        createIds: () => new UniqueIds(pair.sent.get(options.peek)?.ids ?? [], options.id),
        fields: pair.fields,
      }),
  };
}

interface Pair {
  readonly client: CanonicalCodec;
  readonly provider: CanonicalCodec;
  /** Fields of the client. */
  readonly fields: ReturnType<typeof fieldsOf>;
  /** Requests whose answers are awaited. */
  readonly sent: WeakMap<RequestPeek, Sent>;
}

interface Sent {
  /** Ids of the calls in the conversation. */
  readonly ids: ReadonlySet<string>;
  readonly names: OwnNames | undefined;
}

function* encodeSteps(
  { client, provider, fields, sent }: Pair,
  peek: RequestPeek,
  options: EncodeOptions,
): Steps<Buffer> {
  yield* peek.json.valueSteps();
  yield;
  const asked = yield* client.decodeRequest(peek);
  yield;
  const readable = yield* withoutOthersReasoning(asked, options);
  const encoded = yield* provider.encodeRequest(readable ?? asked, options);
  sent.set(peek, { ids: callIdsOf(asked), names: encoded.names });
  const losses: Feature[] = readable ? ['reasoning_signatures'] : [];
  const names = namesOf([...losses, ...encoded.losses], fields);
  const lost = new Set([...asked.unmapped, ...(encoded.lost ?? []), ...names]);
  for (const name of lost) options.losses.push(name);
  yield;
  return withQuirks(yield* toBytes(encoded, peek.body.length), options);
}

function* readSteps(
  { client, provider, fields, sent }: Pair,
  body: Buffer,
  { peek, options }: { peek: RequestPeek; options: AnswerOptions },
): Steps<Answer | undefined> {
  try {
    const value = yield* parseSteps(body, { keep: provider.rawMembers });
    yield;
    const answer = yield* provider.decodeAnswer({ body, value });
    yield;
    // To leave out a call that has no name would hide it.
    if (!answer || answer.parts.some(isNameless)) return undefined;
    const thinker = { ...options, protocol: provider.id };
    const { ids: used = [], names } = sent.get(peek) ?? {};
    const ids = new UniqueIds(used, options.id);
    const bound = answer.parts.map((part) => {
      const own = part.type === 'tool_call' ? withOwnName(part, names) : part;
      const one = asCustomCall(bindPart(own, thinker), peek.calls?.custom);
      return one.type === 'tool_call' ? { ...one, id: ids.take(one.id) } : one;
    });
    const parts = withOwnedSignatures(bound, client);
    const encoded = yield* client.encodeAnswer({ ...answer, parts }, contextOf(peek, options));
    yield;
    return {
      body: yield* toBytes(encoded, body.length),
      usage: answer.usage,
      outputChars: sizeOf(answer.parts),
      losses: namesOf(encoded.losses, fields),
    };
  } catch (thrown) {
    if (isTooDeep(thrown)) return undefined;
    throw thrown;
  }
}

function callIdsOf({ turns }: CanonicalRequest): ReadonlySet<string> {
  const calls = turns.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool_call'));
  return new Set(calls.map((part) => (part.type === 'tool_call' ? part.id : '')));
}

function isNameless(part: Part): boolean {
  return part.type === 'tool_call' && part.name === '';
}

function contextOf(
  peek: RequestPeek,
  { id, created, estimateUsage }: AnswerOptions & Pick<StreamOptions, 'estimateUsage'>,
): AnswerContext {
  return { model: peek.model, id, created, keepUsage: peek.keepUsage, estimateUsage, peek };
}

function namesOf(losses: readonly Feature[], fields: Pair['fields']): string[] {
  return [...new Set(losses.map((feature) => fields[feature] ?? feature))];
}

/** @param size bytes of its source */
function* toBytes({ value }: Encoded, size: number): Steps<Buffer> {
  if (size > LONG_BYTES) return yield* writeSteps(value);
  return Buffer.from(value instanceof RawJson ? value.text : stringifyWithRaw(value));
}

function withQuirks(body: Buffer, { quirks }: EncodeOptions): Buffer {
  if (quirks === undefined) return body;
  const { members } = scanJson(body);
  return spliceJson(body, members, quirkEdits(body, members, quirks));
}

/**
 * Size of the generated parts, in characters; the basis of an estimate where the provider reports
 * no usage.
 */
function sizeOf(parts: readonly Part[]): number {
  return parts.reduce((size, part) => {
    if (part.type === 'tool_call') return size + part.arguments.length;
    return 'text' in part ? size + part.text.length : size;
  }, 0);
}
