import { isJsonObject } from '../../../core/json-value.ts';
import type { AudioPart, DocumentPart, ImagePart } from '../../canonical.ts';
import { fieldOf, membersOf, textOf } from '../fields.ts';
import type { Members } from '../fields.ts';

/** Pictures, recordings and documents, inline or by address. */
export function readMedia(part: Members): ImagePart | AudioPart | DocumentPart | undefined {
  if (isJsonObject(fieldOf(part, 'inlineData'))) {
    const inline = membersOf(part, 'inlineData');
    const mediaType = textOf(inline, 'mimeType') ?? '';
    const data = textOf(inline, 'data') ?? '';
    const source = { type: 'data' as const, mediaType, data };
    if (mediaType.startsWith('image/')) return { type: 'image', source };
    if (mediaType.startsWith('audio/')) return { type: 'audio', mediaType, data };
    return { type: 'document', source };
  }
  if (!isJsonObject(fieldOf(part, 'fileData'))) return undefined;
  const file = membersOf(part, 'fileData');
  const mediaType = textOf(file, 'mimeType');
  const url = textOf(file, 'fileUri') ?? '';
  const source = { type: 'url' as const, url, ...(mediaType !== undefined && { mediaType }) };
  const isImage = mediaType === undefined || mediaType.startsWith('image/');
  return isImage ? { type: 'image', source } : { type: 'document', source };
}
