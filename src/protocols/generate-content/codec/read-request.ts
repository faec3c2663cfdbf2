import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../../core/errors.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import { parseSteps } from '../../../core/json/parse-steps.ts';
import type { CanonicalRequest } from '../../canonical/canonical.ts';
import type { RequestPeek } from '../../protocol.ts';
import { listOf, toCamel } from '../fields.ts';
import type { Members } from '../fields.ts';
import { unreadMembers } from '../../canonical/unread-members.ts';
import { readConfig } from './read-config.ts';
import { readContents, readSystem } from './read-contents.ts';
import { RAW_MEMBERS } from './read-part.ts';
import { GENERATE_CONTENT_REQUEST } from './request-shape.ts';
import { readAllowedTools, readToolChoice, readTools } from './read-tools.ts';

/** Throws `invalid_request` with the path of a member of a wrong type. */
export function* readGenerateContentRequest({
  body,
  json,
  stream,
}: RequestPeek): Steps<CanonicalRequest> {
  const { value } = json;
  const unmapped = new Set(yield* unreadMembers(value, GENERATE_CONTENT_REQUEST, toCamel));
  const system = readSystem(value, unmapped);
  const contents = listOf(yield* parseRaw(body), 'contents');
  const turns = [...system, ...(yield* readContents(contents, unmapped))];
  const tools = readTools(value);
  const toolChoice = readToolChoice(value, unmapped);
  const allowedTools = typeof toolChoice === 'object' ? undefined : readAllowedTools(value);
  return {
    turns,
    tools,
    ...(toolChoice !== undefined && { toolChoice }),
    ...(allowedTools !== undefined && { allowedTools }),
    ...readConfig(value, unmapped),
    stream,
    unmapped: [...unmapped],
  };
}

function* parseRaw(body: Buffer): Steps<Members> {
  try {
    return (yield* parseSteps(body, { keep: RAW_MEMBERS })) as Members;
  } catch (cause) {
    throw new GatewayError('invalid_json', { cause });
  }
}
