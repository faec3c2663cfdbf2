import type { Buffer } from 'node:buffer';
import type { Protocol } from '../../src/protocols/registry.ts';
import type { CanonicalCodec } from '../../src/protocols/canonical/codec.ts';
import type { ReasoningPart } from '../../src/protocols/canonical/canonical.ts';
import { chat } from '../../src/protocols/chat/chat.ts';
import { generateContent } from '../../src/protocols/generate-content/generate-content.ts';
import { messages } from '../../src/protocols/messages/messages.ts';
import type { Feature } from '../../src/protocols/features.ts';
import type { RequestAddress, RequestPeek, WireProtocol } from '../../src/protocols/protocol.ts';

import { responses } from '../../src/protocols/responses/parts.ts';
import { CODECS } from './spoken.ts';

/** What the tests of translation know of one protocol. */
export interface TranslationRow {
  id: Protocol;
  codec: CanonicalCodec;
  protocol: WireProtocol;
  peek(body: Buffer, stream: boolean): RequestPeek;
  /** What the contract does not let its clients have translated. */
  refused: readonly Feature[];
  /** Reasoning as its providers sign it. */
  reasoning: readonly ReasoningPart[];
  /** The body of the request that goes on behind an answer, as clients make it. */
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
  replay(answer: any): object;
}

const row = (
  protocol: WireProtocol,
  rest: Pick<TranslationRow, 'replay'> & {
    signatures: readonly (readonly [text: string, value: string])[];
    address?: (stream: boolean) => RequestAddress;
    refused?: readonly Feature[];
  },
): TranslationRow => ({
  id: protocol.id,
  codec: codecOf(protocol.id),
  protocol,
  peek: (body, stream) => protocol.peek(body, rest.address?.(stream)),
  reasoning: rest.signatures.map(([text, value]) => ({
    type: 'reasoning',
    text,
    signature: { origin: protocol.id, value },
  })),
  refused: rest.refused ?? [],
  replay: rest.replay,
});

function codecOf(id: Protocol): CanonicalCodec {
  const codec = CODECS.find((one) => one.id === id);
  if (!codec) throw new Error(`no codec of ${id}`);
  return codec;
}

export const ROWS: readonly TranslationRow[] = [
  row(chat, {
    signatures: [
      ['thought', '{}'],
      ['thought', '{"type":"reasoning.text","index":0,"signature":"c2ln","format":"f-v1"}'],
      ['', '{"type":"reasoning.encrypted","data":"QUJD","id":"rs_1","index":0}'],
    ],
    replay: ({ choices }) => ({
      model: 'acme/one',
      messages: [{ role: 'user', content: 'hello' }, choices[0].message],
    }),
  }),
  row(messages, {
    signatures: [
      ['thought', 'c2lnbmF0dXJl'],
      ['', 'c2lnbmF0dXJl'],
      ['', '{"redacted":"QUJD"}'],
    ],
    replay: ({ content }) => ({
      model: 'acme/one',
      max_tokens: 2048,
      messages: [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content },
      ],
    }),
  }),
  row(responses, {
    signatures: [
      ['thought', '{"id":"rs_1","encrypted_content":"QUJD"}'],
      ['', '{"id":"rs_1","encrypted_content":"QUJD"}'],
    ],
    replay: ({ output }) => ({
      model: 'acme/one',
      input: [{ role: 'user', content: 'hello' }, ...output],
    }),
  }),
  row(generateContent, {
    address: (stream) => ({
      model: 'acme/one',
      operation: stream ? 'streamGenerateContent' : 'generateContent',
      ...(stream && { query: 'alt=sse' }),
    }),
    refused: ['audio', 'documents', 'document_urls'],
    signatures: [['thought', 'c2lnbmF0dXJl']],
    replay: ({ candidates }) => ({
      contents: [{ role: 'user', parts: [{ text: 'hello' }] }, candidates[0].content],
    }),
  }),
];

/** Every client beside every other provider. */
export const PAIRS: readonly (readonly [string, TranslationRow, TranslationRow])[] = ROWS.flatMap(
  (client) =>
    ROWS.filter((provider) => provider !== client).map(
      (provider) => [`${client.id} to ${provider.id}`, client, provider] as const,
    ),
);
