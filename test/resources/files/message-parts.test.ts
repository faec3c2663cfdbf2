import { describe, expect, it } from 'vitest';
import { messagePart } from '../../../src/resources/files/message-parts.ts';

const inline = (type: string, media_type: string, data = 'AAAA') => ({
  type,
  source: { type: 'base64', media_type, data },
});
const faultOf = (part: unknown) => {
  const { path, message } = messagePart().safeParse(part).error?.issues[0] ?? {};
  return path && `${path.join('.')} ${message}`;
};

describe('a part of a message', () => {
  it.each([
    inline('image', 'image/png'),
    inline('image', 'image/JPG'),
    inline('image', 'image/heic'),
    inline('image', 'image/png', '-_-_'),
    inline('image', 'image/png', '-_8'),
    inline('document', 'application/pdf'),
    inline('document', 'application/x-own'),
  ])('that providers can read is taken: %j', (part) => {
    expect(faultOf(part)).toBeUndefined();
  });

  it.each(['', 'AAA', 'AA A', 'data:image/png;base64,AAAA', '…'])(
    'whose data is no base64 is refused: %j',
    (data) => {
      const fault = 'source.data must be base64 with its padding, and not empty';
      expect(faultOf(inline('image', 'image/png', data))).toBe(fault);
      expect(faultOf(inline('document', 'application/pdf', data))).toBe(fault);
    },
  );

  it.each(['png', 'image/tiff', 'application/pdf', ''])(
    'that is no image that models read is refused: %j',
    (mediaType) => {
      expect(faultOf(inline('image', mediaType))).toBe(
        'source.media_type must be one of image/png, image/jpeg, image/gif, image/webp, image/heic, image/heif',
      );
    },
  );
});
