import { Buffer } from 'node:buffer';
import { RawJson } from '../../../core/json/raw.ts';
import { membersOfText } from '../../../core/json/scan-text.ts';
import type {
  DocumentPart,
  ImagePart,
  MediaSource,
  Part,
  Signature,
  ToolResultPart,
} from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { toSignatureText } from '../../canonical/reasoning-token.ts';
import { writeResponse } from './function-response.ts';

export type WrittenPart = Record<string, unknown>;

/** Context for which parts are written. */
export interface PartWriting {
  readonly losses: Set<Feature>;
  /** The names of called functions by the ids of their calls. */
  readonly names: ReadonlyMap<string, string>;
  /**
   * The text of a signature; undefined where it may not be shown, so that the reasoning which it
   * proves is left out.
   */
  signatureText(signature: Signature): string | undefined;
}

/** Clients are sent every signature, providers only their own. */
export function toClientSignature(signature: Signature): string {
  return toSignatureText(signature, 'generate-content');
}

/** The parts of one content; a signature goes onto the part that it belongs to. */
export function writeParts(parts: readonly Part[], writing: PartWriting): WrittenPart[] {
  const written: WrittenPart[] = [];
  let waiting: string | undefined;
  for (const part of parts) {
    if (part.type === 'reasoning' && part.ofNext) {
      waiting = (part.signature && tell(part.signature, writing)) || undefined;
      continue;
    }
    const one = writePart(part, writing);
    // The signature of a part that is left out proves no other one.
    if (one) written.push(waiting === undefined ? one : { ...one, thoughtSignature: waiting });
    waiting = undefined;
  }
  if (waiting !== undefined) written.push({ text: '', thoughtSignature: waiting });
  return written;
}

function tell(signature: Signature, { losses, signatureText }: PartWriting): string | undefined {
  const text = signatureText(signature);
  if (text === undefined) losses.add('reasoning_signatures');
  return text;
}

/** Undefined for a part that is left out. */
export function writePart(part: Part, writing: PartWriting): WrittenPart | undefined {
  const { losses } = writing;
  if ('cache' in part && part.cache) losses.add('cache_control');
  switch (part.type) {
    case 'text':
      return part.text === '' ? undefined : { text: part.text };
    case 'refusal':
      losses.add('refusals');
      return { text: part.text };
    case 'image':
      if (part.detail !== undefined) losses.add('image_detail');
      return writeSource(part);
    case 'document':
      if (part.name !== undefined) losses.add('document_names');
      return writeSource(part);
    case 'audio':
      return { inlineData: { mimeType: part.mediaType, data: part.data } };
    case 'tool_call':
      return writeCall(part, losses);
    case 'tool_result':
      return writeResult(part, writing);
    case 'reasoning': {
      const { text, signature } = part;
      const thoughtSignature = signature && tell(signature, writing);
      if (signature && thoughtSignature === undefined) return undefined;
      if (!thoughtSignature) return text === '' ? undefined : { text, thought: true };
      return { text, ...(text !== '' && { thought: true }), thoughtSignature };
    }
    case 'opaque':
      if (part.origin === 'generate-content') return part.value as WrittenPart;
      losses.add('builtin_tools');
  }
  return undefined;
}

/** Arguments that were cut off, or are no object, are lost; empty ones become an empty object. */
export function writeCall(
  call: { id: string; name: string; arguments: string },
  losses: Set<Feature>,
): WrittenPart {
  const isObject = membersOfText(call.arguments) !== undefined;
  if (!isObject && call.arguments.trim() !== '') losses.add('tool_arguments');
  const args = new RawJson(isObject ? call.arguments : '{}');
  return { functionCall: { id: call.id, name: call.name, args } };
}

function writeResult(part: ToolResultPart, writing: PartWriting): WrittenPart {
  const { callId, content, isError } = part;
  const media = content.flatMap((one) => {
    const written = one.type === 'text' ? undefined : writePart(one, writing);
    return written ? [written] : [];
  });
  if (content.some((one) => one.type === 'text' && one.cache)) writing.losses.add('cache_control');
  const name = part.name || writing.names.get(callId) || callId;
  return {
    functionResponse: {
      id: callId,
      name,
      response: writeResponse(content, isError),
      ...(media.length > 0 && { parts: media }),
    },
  };
}

function writeSource({ type, source }: ImagePart | DocumentPart): WrittenPart {
  if (source.type === 'data')
    return { inlineData: { mimeType: source.mediaType, data: source.data } };
  if (source.type === 'text') {
    const data = Buffer.from(source.text).toString('base64');
    return { inlineData: { mimeType: 'text/plain', data } };
  }
  const mimeType = source.mediaType ?? guessMediaType(type, source);
  return { fileData: { mimeType, fileUri: source.url } };
}

const TYPES: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
};

/** Providers need the type before they fetch. */
function guessMediaType(
  type: 'image' | 'document',
  { url }: Extract<MediaSource, { type: 'url' }>,
): string {
  const extension = /\.(\w+)(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? '';
  if (type === 'document') return 'application/pdf';
  return Object.hasOwn(TYPES, extension) ? (TYPES[extension] as string) : 'image/jpeg';
}
