import type { Buffer } from 'node:buffer';
import type { JsonEdit } from '../../core/json/splice.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { askedService } from '../asked-service.ts';
import type { AskedMembers } from '../asked-service.ts';
import { boundInput } from '../bound-input.ts';
import { capabilitiesOf } from '../capabilities/capabilities-of.ts';
import { forwardBody } from '../forward-body.ts';
import { readModelName } from '../model-member.ts';
import type { EncodeOptions, RequestPeek } from '../protocol.ts';
import { scanRequest } from '../scan-request.ts';
import type { RequestSource } from '../scan-request.ts';
import { checkMessagesBody, readMaxTokens } from './check-request.ts';
import { withoutForeignThinking } from './foreign-thinking.ts';

/** Members that the gateway reads of a Messages request; others are the provider's business. */
const GUARDED = ['model', 'stream', 'max_tokens'];

const ASKED: AskedMembers = {
  service: ['service_tier', 'speed', 'inference_geo'],
  marks: ['"web_search_'],
  toolOf: ({ type }) =>
    typeof type === 'string' && type.startsWith('web_search_') ? 'web_search' : undefined,
};

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
 * The provider's body: the client's bytes with the model replaced and quirks applied, without the
 * thinking of providers of other protocols.
 */
export function encodeMessages(peek: RequestPeek, options: EncodeOptions): Buffer | SpooledBody {
  const own = withoutForeignThinking(peek);
  if (!own) return forwardBody(peek, options);
  options.losses.push('messages.content.thinking.signature');
  const edits: JsonEdit[] = [{ op: 'set', key: 'messages', json: own.messages }];
  if (own.isWithinUnthought && mustThinkFirst(peek, options)) {
    options.losses.push('thinking');
    edits.push({ op: 'remove', key: 'thinking' });
  }
  return forwardBody(peek, options, edits);
}

/** The model refuses to think on in a loop of calls whose first step did not. */
function mustThinkFirst({ json }: RequestPeek, { model, capabilities }: EncodeOptions): boolean {
  const thinking = json.get('thinking');
  if (!isJsonObject(thinking) || thinking['type'] !== 'enabled') return false;
  return !capabilitiesOf('messages', model, capabilities).budget_after_calls;
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
    // Every stream of the protocol reports its usage.
    keepUsage: true,
    choices: 1,
    inputBound: boundInput(json),
    outputBound: 0,
    asks: askedService(json, ASKED),
  };
}
