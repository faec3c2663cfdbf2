import type { Buffer } from 'node:buffer';
import { quirkEdits } from '../../core/json-quirks.ts';
import { scanJson } from '../../core/json-scan.ts';
import { spliceJson } from '../../core/json-splice.ts';
import type { JsonEdit } from '../../core/json-splice.ts';
import { readModelName } from '../model-member.ts';
import type { EncodeOptions, RequestPeek } from '../protocol.ts';
import { checkMessagesBody, readMaxTokens } from './check-request.ts';

/** What the gateway reads from a Messages request; other members are the provider's business. */
const GUARDED = ['model', 'stream', 'max_tokens'];

/** Throws `invalid_json` or `invalid_request` with `param` (contract: Messages protocol). */
export function peekMessages(body: Buffer): RequestPeek {
  const peek = peekConversation(body);
  return {
    ...peek,
    stream: peek.value['stream'] === true,
    outputBound: readMaxTokens(peek.value),
  };
}

/** The same for a request that asks for no answer, so for no limit of it either. */
export function peekConversation(body: Buffer): RequestPeek {
  const { value, members } = scanJson(body, GUARDED);
  const model = readModelName(value['model']);
  checkMessagesBody(value);
  return {
    model,
    stream: false,
    body,
    members,
    value,
    // Every stream of the protocol tells its usage.
    keepUsage: true,
    choices: 1,
    // No tokenizer makes more tokens than there are bytes.
    inputBound: body.length,
    outputBound: 0,
  };
}

/** The provider's body: the client's bytes with the model replaced and quirks applied. */
export function encodeMessages(
  peek: RequestPeek,
  { model, quirks }: Pick<EncodeOptions, 'model' | 'quirks'>,
): Buffer {
  const edits: JsonEdit[] = [];
  if (model !== peek.model) edits.push({ op: 'set', key: 'model', json: JSON.stringify(model) });
  if (quirks !== undefined) edits.push(...quirkEdits(peek.members, quirks));
  return spliceJson(peek.body, peek.members, edits);
}
