import { Buffer } from 'node:buffer';
import type { JsonMember } from './json-member.ts';
import { fromBytes, joinBodies } from '../memory/spooled-body.ts';
import type { SpooledBody } from '../memory/spooled-body.ts';

/** A change to one top-level member; `json` is JSON text. */
export type JsonEdit =
  /** Replaces the value, or appends the member when absent. */
  | { readonly op: 'set'; readonly key: string; readonly json: string }
  | { readonly op: 'remove'; readonly key: string }
  /** Keeps position and value; the caller sees to it that `to` is not there already. */
  | { readonly op: 'rename'; readonly key: string; readonly to: string };

/** Bytes to replace, and the text that takes their place. */
export interface JsonPatch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Applies edits to the bytes of an object whose members `scanJson` found. Everything that no edit
 * names stays byte-identical: order, number spelling, escapes, whitespace. Of several edits of one
 * key the last wins; an edit of a repeated key changes every occurrence. Returns `body` itself when
 * nothing changes.
 */
export function spliceJson(
  body: Buffer,
  members: readonly JsonMember[],
  edits: readonly JsonEdit[],
): Buffer {
  const patches = findPatches(body, members, edits);
  return patches.length === 0 ? body : applyPatches(body, patches);
}

/** The changes that {@link spliceJson} makes, in the order of the document. */
export function findPatches(
  body: Buffer,
  members: readonly JsonMember[],
  edits: readonly JsonEdit[],
): JsonPatch[] {
  const byKey = new Map(edits.map((edit) => [edit.key, edit]));
  const patches: JsonPatch[] = [];
  let previousEnd = -1;
  let kept = 0;
  members.forEach((member, index) => {
    const edit = byKey.get(member.key);
    if (edit?.op === 'remove') {
      patches.push({ ...removal(member, kept === 0 ? members[index + 1] : previousEnd), text: '' });
    } else {
      kept++;
      if (edit !== undefined) patches.push(change(member, edit));
    }
    previousEnd = member.valueEnd;
  });
  const added = [...byKey.values()].filter((edit) => isAddition(edit, members));
  if (added.length > 0) {
    const at = previousEnd < 0 ? body.indexOf('{') + 1 : previousEnd;
    patches.push({ start: at, end: at, text: additions(added, kept > 0) });
  }
  return patches;
}

/** A member is removed with the comma before it; one without a kept member before it, with the one after it. */
function removal(
  member: JsonMember,
  neighbour: JsonMember | number | undefined,
): { start: number; end: number } {
  if (typeof neighbour === 'number') return { start: neighbour, end: member.valueEnd };
  return { start: member.keyStart, end: neighbour?.keyStart ?? member.valueEnd };
}

function change(member: JsonMember, edit: Exclude<JsonEdit, { op: 'remove' }>): JsonPatch {
  return edit.op === 'set'
    ? { start: member.valueStart, end: member.valueEnd, text: edit.json }
    : { start: member.keyStart, end: member.keyEnd, text: JSON.stringify(edit.to) };
}

function isAddition(
  edit: JsonEdit,
  members: readonly JsonMember[],
): edit is JsonEdit & { op: 'set' } {
  return edit.op === 'set' && !members.some(({ key }) => key === edit.key);
}

function additions(added: readonly (JsonEdit & { op: 'set' })[], afterOthers: boolean): string {
  const text = added.map(({ key, json }) => `${JSON.stringify(key)}:${json}`).join(',');
  return afterOthers ? `,${text}` : text;
}

/** @param patches in the order of the document, none over another */
export function applyPatches(body: Buffer, patches: readonly JsonPatch[]): Buffer {
  let size = body.length;
  for (const { start, end, text } of patches) size += Buffer.byteLength(text) - (end - start);
  const result = Buffer.allocUnsafe(size);
  let from = 0;
  let to = 0;
  for (const { start, end, text } of patches) {
    to += body.copy(result, to, from, start);
    to += result.write(text, to);
    from = end;
  }
  body.copy(result, to, from);
  return result;
}

/** The same as {@link applyPatches} without a copy of the body: its own bytes around the changes. */
export function patchInPieces(body: Buffer, patches: readonly JsonPatch[]): SpooledBody {
  const pieces: SpooledBody[] = [];
  let from = 0;
  for (const { start, end, text } of patches) {
    pieces.push(fromBytes(body.subarray(from, start)), fromBytes(Buffer.from(text)));
    from = end;
  }
  return joinBodies([...pieces, fromBytes(body.subarray(from))]);
}
