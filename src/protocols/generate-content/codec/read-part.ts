import { RawJson } from '../../../core/json/raw.ts';
import type { Part, Signature } from '../../canonical/canonical.ts';
import { fromSignatureText } from '../../canonical/reasoning-token.ts';
import { isNoCall } from '../../canonical/no-call.ts';
import { membersOf, textOf, toSnake } from '../fields.ts';
import type { Members } from '../fields.ts';
import { readFunctionResponse } from './function-response.ts';
import { readMedia } from './read-media.ts';

/** Members whose values are read as raw JSON, for tools get and give them as they are. */
export const RAW_MEMBERS = ['args', 'response'] as const;

/** Gives the calls and responses of a conversation or an answer their ids. */
export interface PartIds {
  ofCall(given: string | undefined, name: string): string;
  ofResponse(given: string | undefined, name: string): string;
}

/**
 * Reads one part. A signature belongs to the text or call that it is on, so it goes before
 * that; one by itself is reasoning without a text. Members that only this protocol knows
 * are opaque.
 */
export function readPart(part: Members, ids: PartIds): Part[] {
  const signature = readSignature(part);
  const text = textOf(part, 'text');
  if (part['thought'] === true && text !== undefined)
    return [{ type: 'reasoning', text, ...(signature && { signature }) }];
  const body = readBody(part, ids);
  if (!signature) return body ? [body] : [];
  if (!body) return [{ type: 'reasoning', text: '', signature }];
  return [{ type: 'reasoning', text: '', signature, ofNext: true }, body];
}

function readSignature(part: Members): Signature | undefined {
  const signature = textOf(part, 'thoughtSignature');
  return signature ? fromSignatureText(signature, 'generate-content') : undefined;
}

/**
 * Undefined for a part that says nothing. An empty text, which other protocols refuse, and a call or
 * response without a name hide nothing: servers that write every member always have them in each part.
 */
function readBody(part: Members, ids: PartIds): Part | undefined {
  const text = textOf(part, 'text');
  if (text) return { type: 'text', text };
  const call = membersOf(part, 'functionCall');
  const called = textOf(call, 'name') ?? '';
  const args = rawText(call['args']);
  if (!isNoCall(called, args)) {
    const id = ids.ofCall(textOf(call, 'id') || undefined, called);
    return { type: 'tool_call', id, name: called, arguments: args };
  }
  const response = membersOf(part, 'functionResponse');
  const name = textOf(response, 'name');
  if (name) {
    const callId = ids.ofResponse(textOf(response, 'id') || undefined, name);
    return { type: 'tool_result', callId, name, ...readFunctionResponse(response) };
  }
  return readMedia(part) ?? readUnknown(part);
}

/** Members that describe a part, not its content, and those that were read. */
const NOTES = new Set(
  [
    'thought',
    'thoughtSignature',
    'text',
    'functionCall',
    'functionResponse',
    'inlineData',
    'fileData',
  ].flatMap((name) => [name, toSnake(name)]),
);

function readUnknown(part: Members): Part | undefined {
  const isEmpty = Object.entries(part).every(([name, value]) => NOTES.has(name) || value === null);
  return isEmpty ? undefined : { type: 'opaque', origin: 'generate-content', value: part };
}

/** The text of an argument object; there may be none. */
function rawText(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  return value === undefined || value === null ? '{}' : JSON.stringify(value);
}
