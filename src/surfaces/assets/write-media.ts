import type { JsonPatch } from '../../core/json-splice.ts';
import { locateJson } from '../../core/json-locate.ts';
import { isJsonObject } from '../../core/json-value.ts';
import type { WireProtocol } from '../../protocols/protocol.ts';
import type { AssetReference } from './asset-reference.ts';

/** What takes the place of a reference. */
export interface Substitute {
  readonly mediaType: string;
  /** Base64; where it is undefined there is a link. */
  readonly data: string | undefined;
  readonly link: string;
}

/** A JSON body that names an asset, and where. */
export interface ReferringBody {
  /** In latin1. */
  readonly text: string;
  readonly value: unknown;
  readonly protocol: WireProtocol;
}

/** The changes to the bytes of a body that put media where it was named; all else stays as it is. */
export function substitute(
  body: ReferringBody,
  { path }: AssetReference,
  media: Substitute,
): JsonPatch[] {
  const place = locateJson(body.text, path);
  if (!place) throw new Error('a reference is not where it was found');
  const { data, mediaType, link } = media;
  const name = path.at(-1);
  const holder = valueAt(body.value, path.slice(0, -1));
  const members = isJsonObject(holder) ? holder : {};
  const whole = (value: unknown): JsonPatch => ({ ...place, text: JSON.stringify(value) });
  const renamed = (to: string, at = place.key): JsonPatch[] =>
    at ? [{ ...at, text: JSON.stringify(to) }] : [];
  const typed = (value: string, member: string): JsonPatch => {
    const type = typeof members[member] === 'string' ? '' : `,"${member}":"${mediaType}"`;
    return { ...place, text: JSON.stringify(value) + type };
  };

  if (data !== undefined && body.protocol.id === 'messages' && members['type'] === 'url') {
    const { url: _url, ...rest } = members;
    const source = { ...rest, type: 'base64', media_type: mediaType, data };
    const at = locateJson(body.text, path.slice(0, -1));
    return at ? [{ start: at.start, end: at.end, text: JSON.stringify(source) }] : [];
  }
  if (body.protocol.id === 'generate-content' && (name === 'fileUri' || name === 'file_uri')) {
    if (data === undefined) return [typed(link, name === 'fileUri' ? 'mimeType' : 'mime_type')];
    const file = locateJson(body.text, path.slice(0, -1));
    if (!file) return [];
    const inline = JSON.stringify({ mimeType: mediaType, data });
    return [...renamed('inlineData', file.key), { start: file.start, end: file.end, text: inline }];
  }
  if (body.protocol.id === 'interactions' && name === 'uri')
    return data === undefined
      ? [typed(link, 'mime_type')]
      : [...renamed('data'), typed(data, 'mime_type')];
  if (name === 'data' && data !== undefined) return [whole(data)];
  return [whole(data === undefined ? link : `data:${mediaType};base64,${data}`)];
}

/** Where base64 alone is understood, no link will do. */
export function needsBytes({ path }: AssetReference): boolean {
  return path.at(-1) === 'data';
}

function valueAt(value: unknown, path: AssetReference['path']): unknown {
  return path.reduce<unknown>(
    (one, step) => (one as Record<string | number, unknown>)[step],
    value,
  );
}
