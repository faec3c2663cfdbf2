import { Buffer } from 'node:buffer';
import type { MediaSource } from '../../canonical/canonical.ts';
import { dataSource } from '../../media/data-source.ts';
import { invalid } from '../../json-fields.ts';

const DATA_URL = /^data:([^,]*),/i;

/** An address, or the data that it holds itself. Throws `invalid_request` for data that is none. */
export function readUrl(url: string, param: string): MediaSource {
  const head = DATA_URL.exec(url);
  if (!head) return { type: 'url', url };
  const data = url.slice(head[0].length);
  const [mediaType = '', ...rest] = (head[1] as string).split(';');
  const isBase64 = rest.at(-1)?.trim().toLowerCase() === 'base64';
  return dataSource(mediaType || 'text/plain', isBase64 ? data : toBase64(data, param));
}

export function writeUrl(source: MediaSource): string {
  return source.type === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

function toBase64(data: string, param: string): string {
  try {
    return Buffer.from(decodeURIComponent(data)).toString('base64');
  } catch {
    throw invalid(param, 'an address or a data URL');
  }
}
