import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locateJson } from '../../src/core/json/locate.ts';
import {
  findAssetReferences,
  fromAssetUrl,
  isExternalId,
  isMediaName,
  mentionsAsset,
  toAssetUrl,
} from '../../src/assets/asset-reference.ts';
import { anyCharacter } from '../support/text/any-character.ts';

const externalId = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._~-]{0,60}$/);
const anyName = fc.oneof(
  fc.constantFrom('url', 'image_url', 'fileUri', 'text', 'metadata', 'tools', 'input', 'data'),
  fc.string(),
);
/** Documents in which references stand anywhere. */
const { document } = fc.letrec<{ document: unknown }>((tie) => ({
  document: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(fc.jsonValue({ maxDepth: 0 }), externalId.map(toAssetUrl)),
    fc.array(tie('document'), { maxLength: 4 }),
    fc.dictionary(anyName, tie('document'), { maxKeys: 4 }),
  ),
}));

const valueAt = (value: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((one, step) => (one as Record<string | number, unknown>)[step], value);

describe('fromAssetUrl', () => {
  it('reads what toAssetUrl wrote', () => {
    fc.assert(
      fc.property(externalId, (id) => {
        expect(fromAssetUrl(toAssetUrl(id))).toBe(id);
        expect(new URL(toAssetUrl(id)).pathname).toBe('');
      }),
    );
  });

  it('takes nothing that a path, a query, an escape or another case could hide in', () => {
    for (const text of [
      '',
      'asset:',
      'asset://',
      'asset://.',
      'asset://..',
      'asset://a/b',
      'asset://a?b',
      'asset://a#b',
      'asset://a%2fb',
      'asset://a b',
      'asset://a\n',
      'asset://-a',
      'ASSET://a',
      ' asset://a',
      `asset://${'a'.repeat(201)}`,
      'https://asset://a',
    ])
      expect([text, fromAssetUrl(text)]).toEqual([text, undefined]);
  });

  it('takes no text but an external id behind the scheme', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (rest) => {
        expect(fromAssetUrl(`asset://${rest}`)).toBe(isExternalId(rest) ? rest : undefined);
      }),
    );
  });
});

describe('isMediaName', () => {
  it('goes by the last word', () => {
    for (const name of [
      'url',
      'image_url',
      'fileUri',
      'images',
      'image[]',
      'image[2]',
      'mask',
      'URL',
    ])
      expect([name, isMediaName(name)]).toEqual([name, true]);
    for (const name of ['', 'text', 'prompt', 'content', 'metadata', 'urls_text', '7', '[]'])
      expect([name, isMediaName(name)]).toEqual([name, false]);
  });
});

describe('findAssetReferences', () => {
  it('finds references where they stand, and none where nothing is mentioned', () => {
    fc.assert(
      fc.property(document, (value) => {
        const found = findAssetReferences(value);
        if (!mentionsAsset(value)) expect(found).toEqual([]);
        for (const { path, externalId: id } of found)
          expect(valueAt(value, path)).toBe(toAssetUrl(id));
      }),
    );
  });

  it('leaves texts, tools, their calls and what callers note alone', () => {
    const url = 'asset://a';
    expect(
      findAssetReferences({
        metadata: { url },
        tools: [{ url }],
        messages: [
          { content: url },
          { content: [{ type: 'text', text: url }] },
          { content: [{ type: 'tool_use', input: { url } }] },
          { parts: [{ functionCall: { args: { url } } }] },
          { tool_calls: [{ function: { arguments: { url } } }] },
          { content: [{ type: 'tool_result', content: [{ source: { type: 'url', url } }] }] },
        ],
        input: [{ type: 'image', uri: url }],
      }).map(({ path }) => path.join('.')),
    ).toEqual(['messages.5.content.0.content.0.source.url', 'input.0.uri']);
  });
});

describe('locateJson', () => {
  it('finds in the bytes what stands in the value', () => {
    fc.assert(
      fc.property(document, fc.constantFrom(0, 1, '\t'), (value, space) => {
        const bytes = Buffer.from(JSON.stringify({ value }, null, space));
        const text = bytes.toString('latin1');
        const visit = (one: unknown, path: (string | number)[]): void => {
          const place = locateJson(text, path);
          expect(place).toBeDefined();
          const { start, end } = place!;
          expect(JSON.parse(bytes.toString('utf8', start, end))).toEqual(one);
          if (Array.isArray(one)) one.forEach((element, index) => visit(element, [...path, index]));
          else if (typeof one === 'object' && one !== null)
            for (const [key, member] of Object.entries(one)) visit(member, [...path, key]);
        };
        visit(JSON.parse(bytes.toString('utf8')), []);
      }),
    );
  });

  it('takes the last of members with one name, however it is written', () => {
    const text = '{"a":1,"\\u0061":[true,"x"],"b":2}';
    expect(locateJson(text, ['a', 1])).toEqual({ start: 22, end: 25, key: undefined });
    expect(locateJson(text, ['b'])).toMatchObject({ key: { start: 27, end: 30 } });
    for (const path of [['c'], ['a', 2], ['a', 'x'], [0], ['b', 0]])
      expect(locateJson(text, path)).toBeUndefined();
  });
});
