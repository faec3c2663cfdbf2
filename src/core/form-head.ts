import { Buffer } from 'node:buffer';
import { GatewayError } from './errors.ts';

/** What the head of a part says; offsets count from the beginning of the head. */
export interface FormHead {
  name: string;
  nameStart: number;
  nameEnd: number;
  filename: string | undefined;
  contentType: string | undefined;
}

const HEADER_LINE = /^([\w!#$%&'*+.^`|~-]+):[ \t]*(.*)$/;
const UNFIT = /[^\t\x20-\x7e\x80-\xff]/;
const PARAMETER = /;[ \t]*([\w*-]+)=(?:"([^"]*)"|([^\s";]+))[ \t]*/y;
const FORM_DATA = /^form-data[ \t]*(?=;)/i;
/** What RFC 2046 allows, and no space at the end. */
const BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/;

/** Encodings that leave the bytes as they are; no other is in use (RFC 7578, 4.7). */
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

/**
 * Reads the header lines of a part, as latin1 and without the empty line behind them. Takes what the
 * clients of this world write and nothing that two parsers might read differently: no folded lines,
 * no header twice, no `name*`, no escaped quotes. Throws `invalid_request`.
 */
export function parseFormHead(head: string): FormHead {
  const headers = new Map<string, { value: string; at: number }>();
  let at = 0;
  for (const line of head.split('\r\n')) {
    const [, name, value = ''] = (!UNFIT.test(line) && HEADER_LINE.exec(line)) || [];
    if (name === undefined) throw malformed('a header of a part');
    const key = name.toLowerCase();
    if (headers.has(key)) throw malformed('a header that is there twice');
    headers.set(key, { value, at: at + line.indexOf(value, name.length + 1) });
    at += line.length + 2;
  }
  const disposition = headers.get('content-disposition');
  if (!disposition) throw malformed('a part without a content-disposition');
  const encoding = headers.get('content-transfer-encoding')?.value.trim().toLowerCase();
  if (encoding !== undefined && !PLAIN_ENCODINGS.has(encoding))
    throw malformed('a content-transfer-encoding');
  const parameters = readParameters(disposition.value, FORM_DATA);
  const name = parameters.get('name');
  if (!name?.value || name.value.includes('\\')) throw malformed('a part without a plain name');
  for (const key of parameters.keys()) {
    if (key !== 'name' && key !== 'filename' && key !== 'filename*')
      throw malformed('a parameter of a content-disposition');
  }
  const filename = parameters.get('filename') ?? parameters.get('filename*');
  const nameStart = disposition.at + name.at;
  return {
    name: toText(name.value),
    nameStart,
    nameEnd: nameStart + name.value.length,
    filename: filename && toText(filename.value),
    contentType: headers.get('content-type')?.value,
  };
}

/** The boundary that a request's content type names. Throws `invalid_request`. */
export function readBoundary(contentType: string): string {
  const parameters = readParameters(contentType, /^multipart\/form-data[ \t]*(?=;|$)/i);
  const boundary = parameters.get('boundary')?.value;
  if (boundary === undefined || !BOUNDARY.test(boundary)) throw malformed('its boundary');
  return boundary;
}

interface Parameter {
  value: string;
  at: number;
}

function readParameters(text: string, opening: RegExp): Map<string, Parameter> {
  const found = new Map<string, Parameter>();
  let at = opening.exec(text)?.[0].length ?? -1;
  if (at < 0) throw malformed('its kind');
  const pattern = new RegExp(PARAMETER);
  while (at < text.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) throw malformed('its parameters');
    const [whole, key = '', quoted, token = ''] = match;
    const value = quoted ?? token;
    const name = key.toLowerCase();
    if (found.has(name) || value.endsWith('\\')) throw malformed('its parameters');
    found.set(name, { value, at: at + whole.indexOf(value, whole.indexOf('=')) });
    at += whole.length;
  }
  return found;
}

function toText(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}

/** `what` quotes nothing of the body. */
export function malformed(what: string): GatewayError {
  return new GatewayError('invalid_request', {
    message: `the multipart body cannot be read: ${what} is not as it must be`,
  });
}
