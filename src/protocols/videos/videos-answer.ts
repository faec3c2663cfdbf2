import type { Buffer } from 'node:buffer';
import type { Answer } from '../protocol.ts';
import { readVideo } from './video.ts';

/** A task with an id and a status that is known; anything else is not a valid answer. */
export function readVideosAnswer(body: Buffer): Answer | undefined {
  const found = readVideo(body);
  if (!found) return undefined;
  const { id, video, value } = found;
  return { body, usage: undefined, outputChars: 0, work: { id, status: video.state, value } };
}
