import type { JsonObject } from './json.ts';

/**
 * The fields of a multipart body: text parts as strings, file parts as their number under `files`.
 * Undefined when the content type names no boundary.
 */
export function parseForm(contentType: string, body: Buffer): JsonObject | undefined {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) return undefined;
  const fields: JsonObject = {};
  let files = 0;
  for (const part of body.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
    const headEnd = part.indexOf('\r\n\r\n');
    const head = part.slice(0, headEnd);
    const name = /\bname="([^"]*)"/i.exec(head)?.[1];
    if (headEnd < 0 || name === undefined) continue;
    if (/\bfilename="/i.test(head)) files++;
    else fields[name] = Buffer.from(part.slice(headEnd + 4, -2), 'latin1').toString('utf8');
  }
  return { ...fields, files };
}
