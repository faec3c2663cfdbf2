import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { findAssetReferences } from '../../src/assets/asset-reference.ts';
import { needsBytes, substitute } from '../../src/assets/write-media.ts';
import { applyPatches } from '../../src/core/json/splice.ts';
import type { MediaSpot, MediaWriter, Substitute } from '../../src/protocols/media/write-media.ts';
import type { WireProtocol } from '../../src/protocols/protocol.ts';

/** The body with what stands for its references. */
function written(text: string, media: Substitute, writeMedia?: MediaWriter): string {
  const bytes = Buffer.from(text);
  const value: unknown = JSON.parse(text);
  const protocol = { writeMedia } as WireProtocol;
  const body = { text: bytes.toString('latin1'), value, protocol };
  const patches = findAssetReferences(value).flatMap((one) => substitute(body, one, media));
  return applyPatches(bytes, patches).toString();
}

const DATA: Substitute = { mediaType: 'image/png', data: 'AAA=' };

describe('media in place of a reference', () => {
  it('is a data URL, and all other bytes stay as they are', () => {
    expect(written('{ "ü" :1e1, "image_url":  "asset://m_1" ,"n":1.0}', DATA)).toBe(
      '{ "ü" :1e1, "image_url":  "data:image/png;base64,AAA=" ,"n":1.0}',
    );
  });

  it('is plain base64 in a member that is named data', () => {
    expect(written('{"image":{"data":"asset://m_1"}}', DATA)).toBe('{"image":{"data":"AAA="}}');
  });

  it('is the link where it has one', () => {
    const link = { mediaType: 'image/png', link: 'https://g.example/a?b="' };
    expect(written('{"images":["asset://m_1"]}', link)).toBe(
      '{"images":["https://g.example/a?b=\\""]}',
    );
  });

  it('is written as the protocol has it, which is told the place and what stands around it', () => {
    const spots: MediaSpot[] = [];
    const writer: MediaWriter = (spot) => {
      spots.push(spot);
      return [{ start: spot.place.start, end: spot.place.end, text: '7' }];
    };
    const text = '{"source":{"type":"url","url":"asset://m_1"}}';
    expect(written(text, DATA, writer)).toBe('{"source":{"type":"url","url":7}}');
    const [spot] = spots;
    expect([spot?.name, spot?.members]).toEqual(['url', { type: 'url', url: 'asset://m_1' }]);
    expect(text.slice(spot?.around.start, spot?.around.end)).toBe(
      '{"type":"url","url":"asset://m_1"}',
    );
    expect(written(text, DATA, () => undefined)).toContain('"data:image/png;base64,AAA="');
  });

  it('has no members around it in a list', () => {
    let members: unknown;
    const writer: MediaWriter = (spot) => {
      ({ members } = spot);
      return [];
    };
    written('{"images":["asset://m_1"]}', DATA, writer);
    expect(members).toEqual({});
  });

  it('is looked for where it was found, or it is a bug', () => {
    const protocol = {} as WireProtocol;
    const reference = { path: ['image', 'url'], externalId: 'm_1' };
    for (const text of ['{}', '{"image":{}}']) {
      const body = { text, value: JSON.parse(text) as unknown, protocol };
      expect(() => substitute(body, reference, DATA)).toThrow('is not where it was found');
    }
  });
});

describe('a reference that only bytes can replace', () => {
  it.each([
    [['a', 'data'], true],
    [['data', 'a'], false],
    [['data', 0], false],
    [[], false],
  ])('is one that is named data: %j', (path, needs) => {
    expect(needsBytes({ path, externalId: 'm_1' })).toBe(needs);
  });
});
