import { skipBlank, skipNested, skipString } from '../../../core/json/scan.ts';

/** Extent of an element of an array in its text; `end` is exclusive. */
export interface JsonElement {
  readonly start: number;
  readonly value: number;
  readonly end: number;
}

export interface JsonEntry extends JsonElement {
  readonly name: string;
}

/** The members of the object that begins at `open` of a valid JSON text. */
export function readMembers(json: string, open: number): JsonEntry[] {
  const members: JsonEntry[] = [];
  let at = skipBlank(json, open + 1);
  while (json[at] === '"') {
    const nameEnd = skipString(json, at);
    const value = skipBlank(json, skipBlank(json, nameEnd) + 1);
    const end = skipValue(json, value);
    members.push({ name: decodeName(json.slice(at, nameEnd)), start: at, value, end });
    at = nextEntry(json, end);
  }
  return members;
}

/** The elements of the array that begins at `open` of a valid JSON text. */
export function readElements(json: string, open: number): JsonElement[] {
  const elements: JsonElement[] = [];
  let at = skipBlank(json, open + 1);
  while (at < json.length && json[at] !== ']') {
    const end = skipValue(json, at);
    elements.push({ start: at, value: at, end });
    at = nextEntry(json, end);
  }
  return elements;
}

/** The offset of the entry after the comma, or of the closing bracket. */
function nextEntry(json: string, end: number): number {
  const at = skipBlank(json, end);
  return json[at] === ',' ? skipBlank(json, at + 1) : at;
}

function decodeName(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

function skipValue(json: string, start: number): number {
  const first = json[start];
  if (first === '"') return skipString(json, start);
  if (first === '{' || first === '[') return skipNested(json, start);
  let at = start;
  while (at < json.length && !/[\s,\]}]/.test(json.charAt(at))) at++;
  return at;
}
