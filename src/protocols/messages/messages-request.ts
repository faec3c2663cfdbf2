import type { Buffer } from 'node:buffer';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { forwardBody } from '../forward-body.ts';
import { readModelName } from '../model-member.ts';
import type { EncodeOptions, RequestPeek } from '../protocol.ts';
import { scanRequest } from '../scan-request.ts';
import type { RequestSource } from '../scan-request.ts';
import { checkMessagesBody, readMaxTokens } from './check-request.ts';
import { withoutForeignThinking } from './foreign-thinking.ts';

/** Members that the gateway reads of a Messages request; others are the provider's business. */
const GUARDED = ['model', 'stream', 'max_tokens'];

/** Throws `invalid_json` or `invalid_request` with `param` (contract: Messages protocol). */
export function peekMessages(source: RequestSource): RequestPeek {
  const peek = peekConversation(source);
  return {
    ...peek,
    stream: peek.json.get('stream') === true,
    outputBound: readMaxTokens(peek.json.get('max_tokens')),
  };
}

/**
 * The provider's body: the client's bytes with the model replaced and quirks applied, without what other
 * protocols' providers thought.
 */
export function encodeMessages(peek: RequestPeek, options: EncodeOptions): Buffer | SpooledBody {
  const messages = withoutForeignThinking(peek);
  if (messages === undefined) return forwardBody(peek, options);
  options.losses.push('messages.content.thinking.signature');
  return forwardBody(peek, options, [{ op: 'set', key: 'messages', json: messages }]);
}

/** The same for a request that asks for no answer, so for no limit of it either. */
export function peekConversation(source: RequestSource): RequestPeek {
  const json = scanRequest(source, GUARDED);
  const { body, members } = json;
  const model = readModelName(json.get('model'));
  checkMessagesBody(json);
  return {
    model,
    stream: false,
    body,
    members,
    json,
    // Every stream of the protocol tells its usage.
    keepUsage: true,
    choices: 1,
    // No tokenizer makes more tokens than there are bytes.
    inputBound: body.length,
    outputBound: 0,
  };
}
