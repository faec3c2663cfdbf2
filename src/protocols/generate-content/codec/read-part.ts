import { RawJson } from '../../../core/json/raw.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type { Part, Signature } from '../../canonical/canonical.ts';
import { fromSignatureText } from '../../canonical/reasoning-token.ts';
import { fieldOf, textOf } from '../fields.ts';
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

/** Undefined for an empty text, which says nothing and which other protocols refuse. */
function readBody(part: Members, ids: PartIds): Part | undefined {
  const text = textOf(part, 'text');
  if (text !== undefined) return text === '' ? undefined : { type: 'text', text };
  const call = fieldOf(part, 'functionCall');
  if (isJsonObject(call)) {
    const name = textOf(call, 'name') ?? '';
    const id = ids.ofCall(textOf(call, 'id') || undefined, name);
    return { type: 'tool_call', id, name, arguments: rawText(call['args']) };
  }
  const response = fieldOf(part, 'functionResponse');
  if (isJsonObject(response)) {
    const name = textOf(response, 'name') ?? '';
    const callId = ids.ofResponse(textOf(response, 'id') || undefined, name);
    return { type: 'tool_result', callId, name, ...readFunctionResponse(response) };
  }
  return readMedia(part) ?? readUnknown(part);
}

/** Members that describe a part, not its content. */
const NOTES = new Set(['thought', 'thoughtSignature', 'thought_signature']);

function readUnknown(part: Members): Part | undefined {
  const isEmpty = Object.keys(part).every((name) => NOTES.has(name));
  return isEmpty ? undefined : { type: 'opaque', origin: 'generate-content', value: part };
}

/** The text of an argument object; there may be none. */
function rawText(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  return value === undefined || value === null ? '{}' : JSON.stringify(value);
}
