import { Buffer } from 'node:buffer';
import { GatewayError } from './errors.ts';
import type { Quirks } from './json/quirks.ts';
import { fromBytes, joinBodies } from './memory/spooled-body.ts';
import type { SpooledBody } from './memory/spooled-body.ts';

/** Most bytes of the texts of one form together. */
export const MAX_FORM_TEXT_BYTES = 1024 * 1024;

/** A part of a form whose content is text. */
export interface FormField {
  readonly name: string;
  readonly value: string;
  /** Undefined for plain text. */
  readonly contentType?: string | undefined;
}

/** A part of a form whose content is bytes. */
export interface FormFile {
  readonly name: string;
  readonly value?: undefined;
  /** File name as the client wrote it; undefined when it wrote none. */
  readonly filename: string | undefined;
  /** Content type as the client wrote it; undefined when it wrote none. */
  readonly contentType: string | undefined;
  readonly content: SpooledBody;
}

export type FormPart = FormField | FormFile;

/** A `multipart/form-data` body (RFC 7578), understood. */
export interface Form {
  /** Boundary of the body that is written of it; occurs nowhere in its parts. */
  readonly boundary: string;
  /** Parts in the client's order; names may repeat. */
  readonly parts: readonly FormPart[];
}

/** The media type of a form, to be sent along with its body. */
export function formContentType({ boundary }: Pick<Form, 'boundary'>): string {
  return `multipart/form-data; boundary=${boundary}`;
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

/** Returns a name as parsers take it that know lists and no letter case. */
function plainName(name: string): string {
  return name.replace(/\[\d*\]$/, '').toLowerCase();
}

export interface FormEdits {
  /** New values of text fields that are there. */
  values: Readonly<Record<string, string>>;
  quirks?: Quirks | undefined;
}

/**
 * The body of a form, with other values for some of its fields and a provider's quirks applied. It is written
 * again, as browsers write it, so that every reader finds the same fields as the gateway.
 */
export function writeForm({ boundary, parts }: Form, edits: FormEdits): SpooledBody {
  const pieces: SpooledBody[] = [];
  let text = '';
  for (const part of editParts(parts, edits)) {
    text += `--${boundary}\r\n${headOf(part)}\r\n\r\n`;
    if (part.value === undefined) {
      pieces.push(fromBytes(Buffer.from(text)), part.content);
      text = '';
    } else text += part.value;
    text += '\r\n';
  }
  return joinBodies([...pieces, fromBytes(Buffer.from(`${text}--${boundary}--\r\n`))]);
}

/** A part goes when its new name is there already; a default gives way to a field that is there. */
function editParts(parts: readonly FormPart[], { values, quirks = {} }: FormEdits): FormPart[] {
  const { drop = [], default: defaults = {} } = quirks;
  const rename = new Map(Object.entries(quirks.rename ?? {}));
  const newValues = new Map(Object.entries(values));
  const names = new Set(parts.map(({ name }) => name));
  const edited = parts
    .filter(({ name }) => !drop.includes(name) && !names.has(rename.get(name) ?? ''))
    .map((part): FormPart => {
      const name = rename.get(part.name) ?? part.name;
      if (part.value === undefined) return { ...part, name };
      return { ...part, name, value: newValues.get(part.name) ?? part.value };
    });
  const there = new Set(edited.map(({ name }) => name));
  for (const [name, value] of Object.entries(defaults)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (!there.has(name)) edited.push({ name, value: text });
  }
  return edited;
}

function headOf(part: FormPart): string {
  let head = `Content-Disposition: form-data; name="${escapeName(part.name)}"`;
  if (part.value === undefined && part.filename !== undefined)
    head += `; filename="${escapeName(part.filename)}"`;
  return part.contentType === undefined ? head : `${head}\r\nContent-Type: ${part.contentType}`;
}

/** Escapes a name as browsers do (HTML, multipart/form-data encoding algorithm). */
function escapeName(name: string): string {
  return name.replace(/["\r\n]/g, encodeURIComponent);
}
