import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { scanJson } from '../../src/core/json/json-document.ts';
import { fromBytes } from '../../src/core/memory/spooled-body.ts';
import { forwardBody } from '../../src/protocols/forward-body.ts';

const OPTIONS = { model: 'other', quirks: { drop: ['user'], default: { top_k: 5 } } };

async function piecesOf(bytes: number): Promise<{ body: Buffer; pieces: Buffer[] }> {
  const text = `{ "user":"u", "x":1.0, "model" : "m", "text":"${'ü'.repeat(bytes / 2)}" }`;
  const body = Buffer.from(text);
  const sent = forwardBody({ model: 'm', body, members: scanJson(body).members }, OPTIONS);
  const pieces: Buffer[] = [];
  const whole = Buffer.isBuffer(sent) ? fromBytes(sent) : sent;
  for await (const piece of whole.open()) pieces.push(piece);
  expect(pieces.reduce((sum, piece) => sum + piece.length, 0)).toBe(sent.length);
  return { body, pieces };
}

it('sends a large body as the client’s own bytes around the changes', async () => {
  const { body, pieces } = await piecesOf(1024 * 1024);
  const own = pieces.filter((piece) => piece.buffer === body.buffer);
  expect(own.reduce((sum, piece) => sum + piece.length, 0)).toBeGreaterThan(1024 * 1024);
  const changed = body
    .toString()
    .replace('"user":"u", ', '')
    .replace('"m"', '"other"')
    .replace(' }', ',"top_k":5 }');
  expect(Buffer.concat(pieces).toString()).toBe(changed);
});

it('makes one piece of a small one', async () => {
  expect((await piecesOf(1024)).pieces).toHaveLength(1);
});
