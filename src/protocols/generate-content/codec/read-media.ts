import type { AudioPart, DocumentPart, ImagePart } from '../../canonical/canonical.ts';
import { isFilled } from '../../json-fields.ts';
import { dataSource, toMediaType } from '../../media/data-source.ts';
import { membersOf, textOf } from '../fields.ts';
import type { Members } from '../fields.ts';

/** Pictures, recordings and documents, inline or by address. */
export function readMedia(part: Members): ImagePart | AudioPart | DocumentPart | undefined {
  const inline = membersOf(part, 'inlineData');
  if (isFilled(inline)) {
    const source = dataSource(textOf(inline, 'mimeType') ?? '', textOf(inline, 'data') ?? '');
    const { mediaType, data } = source;
    if (mediaType.startsWith('image/')) return { type: 'image', source };
    if (mediaType.startsWith('audio/')) return { type: 'audio', mediaType, data };
    return { type: 'document', source };
  }
  const file = membersOf(part, 'fileData');
  if (!isFilled(file)) return undefined;
  const given = textOf(file, 'mimeType');
  const mediaType = given === undefined ? undefined : toMediaType(given);
  const url = textOf(file, 'fileUri') ?? '';
  const source = { type: 'url' as const, url, ...(mediaType !== undefined && { mediaType }) };
  const isImage = mediaType === undefined || mediaType.startsWith('image/');
  return isImage ? { type: 'image', source } : { type: 'document', source };
}
