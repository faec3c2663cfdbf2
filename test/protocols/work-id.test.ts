import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { readInteraction } from '../../src/protocols/interactions/interaction.ts';
import { readVideo } from '../../src/protocols/videos/video.ts';
import { isWorkId } from '../../src/protocols/work-id.ts';

it('takes ids that can stand in an address, and no others', () => {
  for (const id of ['v1_abc', 'a/b?c', 'größe 🌍', '...', 'x'.repeat(512)]) {
    expect(isWorkId(id)).toBe(true);
    expect(() => encodeURIComponent(id)).not.toThrow();
  }
  for (const id of ['', '.', '..', 'a\n', '\ud800', 'x'.repeat(513), 7, undefined])
    expect(isWorkId(id)).toBe(false);
});

it('sees no work in an answer whose id is none', () => {
  const bodyOf = (id: string) => Buffer.from(JSON.stringify({ id, status: 'completed' }));
  expect(readInteraction(bodyOf('int_1'))?.id).toBe('int_1');
  expect(readVideo(bodyOf('video_1'))?.id).toBe('video_1');
  expect(readInteraction(bodyOf('\ud800'))).toBeUndefined();
  expect(readVideo(bodyOf('\ud800'))).toBeUndefined();
});
