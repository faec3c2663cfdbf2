import { Buffer } from 'node:buffer';
import { GatewayError } from './errors.ts';
import type { Quirks } from './quirks.ts';
import { fromBytes, joinBodies, sliceBody } from './spooled-body.ts';
import type { SpooledBody } from './spooled-body.ts';

/** One part of a `multipart/form-data` body (RFC 7578) and where it stands; offsets are in bytes. */
export interface FormPart {
  readonly name: string;
  /** The value of a text field; undefined for a file. */
  readonly value: string | undefined;
  /** As the client named it. */
  readonly filename: string | undefined;
  /** As the client wrote it. */
  readonly contentType: string | undefined;
  /** Of its delimiter line: the part begins here and ends two bytes (CR LF) after {@link end}. */
  readonly from: number;
  /** Of the name, without quotes. */
  readonly nameStart: number;
  readonly nameEnd: number;
  /** Of the content. */
  readonly start: number;
  readonly end: number;
}

/** A multipart body as the client sent it, with what is known of its parts. */
export interface Form {
  readonly boundary: string;
  /** In the order of the body; names may repeat. */
  readonly parts: readonly FormPart[];
  /** The client's bytes. */
  readonly body: SpooledBody;
  /** Where the closing delimiter begins. */
  readonly closeAt: number;
}

/** The media type of a form, to be sent along with its body. */
export function formContentType({ boundary }: Pick<Form, 'boundary'>): string {
  return `multipart/form-data; boundary=${/^[\w'+.-]+$/.test(boundary) ? boundary : `"${boundary}"`}`;
}

/**
 * The value of a text field that the gateway itself acts on; undefined when the form has none.
 * Throws `invalid_request` when it is there twice, is a file, or comes under a name that another
 * parser might take for it (`Model`, `model[]`): no two parsers may disagree about it.
 */
export function readGuardedField({ parts }: Pick<Form, 'parts'>, name: string): string | undefined {
  const found = parts.filter((part) => plainName(part.name) === name);
  const [field] = found;
  if (!field) return undefined;
  const fault =
    found.length > 1
      ? 'is there more than once'
      : field.name !== name
        ? `must be spelled so, not \`${field.name}\``
        : field.value === undefined && 'must be a text field';
  if (!fault && field.value !== undefined) return field.value;
  throw new GatewayError('invalid_request', { message: `\`${name}\` ${fault}`, param: name });
}

/** As parsers take it that know lists and no letter case. */
function plainName(name: string): string {
  return name.replace(/\[\d*\]$/, '').toLowerCase();
}

interface Patch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface FormEdits {
  /** New values of text fields that are there. */
  values: Readonly<Record<string, string>>;
  quirks?: Quirks | undefined;
}

/**
 * The form's body with other values for some of its fields and a provider's quirks applied; every
 * byte that no edit names stays as it is.
 */
export function spliceForm(form: Form, { values, quirks = {} }: FormEdits): SpooledBody {
  const { drop = [], rename = {} } = quirks;
  const names = new Set(form.parts.map(({ name }) => name));
  const patches: Patch[] = [];
  for (const part of form.parts) {
    const { name, from, nameStart, nameEnd, start, end } = part;
    const to = rename[name];
    if (drop.includes(name) || (to !== undefined && names.has(to))) {
      patches.push({ start: from, end: end + 2, text: '' });
      continue;
    }
    if (to !== undefined) patches.push({ start: nameStart, end: nameEnd, text: escapeName(to) });
    const value = values[name];
    if (value !== undefined && value !== part.value) patches.push({ start, end, text: value });
  }
  const text = additions(form, quirks, names);
  if (text !== '') patches.push({ start: form.closeAt, end: form.closeAt, text });
  return patches.length === 0 ? form.body : applyPatches(form.body, patches);
}

function additions(
  { boundary }: Form,
  { drop = [], rename = {}, default: defaults = {} }: Quirks,
  names: ReadonlySet<string>,
): string {
  const kept = [...names].filter((name) => !drop.includes(name));
  const there = new Set(kept.map((name) => rename[name] ?? name));
  return Object.entries(defaults)
    .filter(([name]) => !there.has(name))
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const head = `content-disposition: form-data; name="${escapeName(name)}"`;
      return `--${boundary}\r\n${head}\r\n\r\n${text}\r\n`;
    })
    .join('');
}

/** As browsers write names (HTML, multipart/form-data encoding algorithm). */
function escapeName(name: string): string {
  return name.replace(/["\r\n]/g, encodeURIComponent);
}

function applyPatches(body: SpooledBody, patches: readonly Patch[]): SpooledBody {
  const parts: SpooledBody[] = [];
  let at = 0;
  for (const { start, end, text } of patches) {
    parts.push(sliceBody(body, at, start), fromBytes(Buffer.from(text)));
    at = end;
  }
  parts.push(sliceBody(body, at, body.length));
  return joinBodies(parts);
}
