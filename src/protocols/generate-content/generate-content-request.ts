import type { Buffer } from 'node:buffer';
import { quirkEdits } from '../../core/json/json-quirks.ts';
import type { JsonEdit } from '../../core/json/splice.ts';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { askedService } from '../asked-service.ts';
import type { AskedMembers } from '../asked-service.ts';
import { boundInput } from '../bound-input.ts';
import { editBody } from '../forward-body.ts';
import { readModelName } from '../model-member.ts';
import type { EncodeOptions, RequestAddress, RequestPeek } from '../protocol.ts';
import { scanRequest } from '../scan-request.ts';
import type { RequestSource } from '../scan-request.ts';
import { checkFields, CHECKED_FIELDS } from './check-fields.ts';
import { fieldOf, membersOf, pickFields } from './fields.ts';
import { withoutForeignSignatures } from './foreign-signatures.ts';

const JSON_TYPE = 'application/json';
/** Members that the gateway reads of a request for its bounds. */
const GUARDED = ['generationConfig', 'generation_config'];

/**
 * Model and method come from the path, the form of the stream from the query (contract:
 * Generate-content protocol). Throws `invalid_json` or `invalid_request`.
 */
export function peekGenerateContent(
  source: RequestSource,
  { model, operation, query }: RequestAddress = {},
): RequestPeek {
  const json = scanRequest(source, GUARDED);
  const { body, members } = json;
  const value = pickFields(json, CHECKED_FIELDS);
  checkFields(value);
  const config = membersOf(value, 'generationConfig');
  const candidates = fieldOf(config, 'candidateCount');
  const choices = isPositive(candidates) ? candidates : 1;
  const outputLimit = fieldOf(config, 'maxOutputTokens');
  const stream = operation === 'streamGenerateContent';
  const isEvents = new URLSearchParams(query).get('alt') === 'sse';
  return {
    model: readModelName(model),
    stream,
    body,
    members,
    json,
    // It is part of every answer here.
    keepUsage: true,
    choices,
    inputBound: boundInput(json),
    asks: askedService(json, ASKED),
    outputBound: isPositive(outputLimit) ? outputLimit * choices : undefined,
    ...(operation === undefined ? {} : { operation }),
    ...(stream && !isEvents ? { streamType: JSON_TYPE } : {}),
  };
}

const ASKED: AskedMembers = {
  service: ['serviceTier', 'service_tier'],
  marks: ['oogleSearch', 'oogle_search', 'oogleMaps', 'oogle_maps'],
  toolOf(tool) {
    const names = Object.keys(tool);
    if (names.some((name) => /^google_?search/i.test(name))) return 'web_search';
    return names.some((name) => /^google_?maps$/i.test(name)) ? 'maps_search' : undefined;
  },
};

/** True: the stream is one JSON array; false: server-sent events. */
export function isArrayStream({ streamType }: RequestPeek): boolean {
  return streamType === JSON_TYPE;
}

/**
 * The client's bytes, for the model is in the address, without signatures of other protocols'
 * providers, and with further edits made.
 */
export function encodeGenerateContent(
  peek: RequestPeek,
  options: EncodeOptions,
  further: readonly JsonEdit[] = [],
): Buffer | SpooledBody {
  const { body, members } = peek;
  const { quirks, losses } = options;
  const edits: JsonEdit[] = quirks === undefined ? [] : quirkEdits(body, members, quirks);
  const contents = withoutForeignSignatures(peek, options);
  if (contents !== undefined) {
    edits.push({ op: 'set', key: 'contents', json: contents });
    losses.push('thoughtSignature');
  }
  edits.push(...further);
  return editBody(body, members, edits);
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
