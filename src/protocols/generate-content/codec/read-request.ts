import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../../core/errors.ts';
import { parseKeepingRaw } from '../../../core/json/raw.ts';
import type { CanonicalRequest } from '../../canonical/canonical.ts';
import type { RequestPeek } from '../../protocol.ts';
import { listOf, toCamel } from '../fields.ts';
import type { Members } from '../fields.ts';
import { unreadMembers } from '../../canonical/unread-members.ts';
import { readConfig } from './read-config.ts';
import { readContents, readSystem } from './read-contents.ts';
import { RAW_MEMBERS } from './read-part.ts';
import { GENERATE_CONTENT_REQUEST } from './request-shape.ts';
import { readToolChoice, readTools } from './read-tools.ts';

/** Throws `invalid_request` with the path of a member of a wrong type. */
export function readGenerateContentRequest({ body, json, stream }: RequestPeek): CanonicalRequest {
  const { value } = json;
  const unmapped = new Set(unreadMembers(value, GENERATE_CONTENT_REQUEST, toCamel));
  const turns = [
    ...readSystem(value, unmapped),
    ...readContents(listOf(parseRaw(body), 'contents'), unmapped),
  ];
  const tools = readTools(value);
  const toolChoice = readToolChoice(value, unmapped);
  return {
    turns,
    tools,
    ...(toolChoice !== undefined && { toolChoice }),
    ...readConfig(value, unmapped),
    stream,
    unmapped: [...unmapped],
  };
}

function parseRaw(body: Buffer): Members {
  try {
    return parseKeepingRaw(body.toString('utf8'), RAW_MEMBERS) as Members;
  } catch (cause) {
    throw new GatewayError('invalid_json', { cause });
  }
}
