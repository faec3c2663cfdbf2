import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import type { SseFrame } from '../../src/core/sse/frame.ts';
import { formatSse } from '../../src/core/sse/frame.ts';

const JUNK: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1e308, '', 'x', [], {}, [null], [[]], { type: 'x' }, [{}]),
  fc.jsonValue({ maxDepth: 2 }),
);

/** The JSON text with one to three values of any depth replaced, left out or doubled. */
export function mutatedJson(text: string): fc.Arbitrary<string> {
  return fc
    .array(fc.tuple(fc.nat(), fc.constantFrom('replace', 'remove', 'double'), JUNK), {
      minLength: 1,
      maxLength: 3,
    })
    .map((changes) => {
      let value: unknown = JSON.parse(text);
      for (const [at, how, junk] of changes)
        value = change(value, { at, how, junk: structuredClone(junk) });
      return JSON.stringify(value);
    });
}

interface Change {
  at: number;
  how: string;
  junk: unknown;
}

function change(root: unknown, { at, how, junk }: Change): unknown {
  const places = placesOf(root);
  const place = places[at % Math.max(1, places.length)];
  if (!place) return root;
  const { parent, key } = place;
  if (Array.isArray(parent)) {
    const index = Number(key);
    if (how === 'remove') parent.splice(index, 1);
    else if (how === 'double') parent.splice(index, 0, structuredClone(parent[index]));
    else parent[index] = junk;
  } else if (how === 'remove') delete parent[key];
  else parent[key] = how === 'double' ? [parent[key], junk] : junk;
  return root;
}

interface Place {
  parent: Record<string, unknown> | unknown[];
  key: string;
}

function placesOf(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const parent = value as Place['parent'];
  return Object.entries(value).flatMap(([key, child]) => [{ parent, key }, ...placesOf(child)]);
}

/** The bytes of a stream whose events are changed, left out, doubled or exchanged. */
export function mutatedFrames(frames: readonly SseFrame[]): fc.Arbitrary<Buffer> {
  const spelled = frames.map((frame) => {
    const { event, data = '' } = frame;
    return isJson(data)
      ? mutatedJson(data).map((changed) => formatSse({ event, data: changed }))
      : fc.constantFrom(formatSse({ event, data: `${data}x` }), Buffer.from(': nothing\n\n'));
  });
  const kept = frames.map((frame) => fc.constant(Buffer.from(frame.raw)));
  const each = spelled.map((changed, index) =>
    fc.oneof(
      { weight: 6, arbitrary: kept[index] as fc.Arbitrary<Buffer> },
      { weight: 1, arbitrary: changed },
    ),
  );
  return fc
    .tuple(fc.tuple(...each), fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(3)), { maxLength: 3 }))
    .map(([all, moves]) => Buffer.concat(rearrange(all, moves)));
}

function rearrange(
  all: readonly Buffer[],
  moves: readonly (readonly [number, number, number])[],
): Buffer[] {
  const out = [...all];
  for (const [from, to, how] of moves) {
    const [taken] = out.splice(from % Math.max(1, out.length), 1);
    if (!taken || how === 0) continue;
    out.splice(to % (out.length + 1), 0, ...(how === 1 ? [taken, taken] : [taken]));
  }
  return out;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
