import { Refusal } from './refusal.ts';

/** Bounds how many streams each organization has open. */
export interface StreamRoom {
  /** Most streams of one organization on one process. */
  readonly max: number;
  /** Returns the release of a slot; undefined when no slot is free. */
  enter(organization: string): (() => void) | undefined;
}

/** Each stream is a socket and a few kilobytes. */
export const MAX_STREAMS = 500;

export function createStreamRoom(max: number): StreamRoom {
  const open = new Map<string, number>();
  return {
    max,
    enter(organization) {
      const count = open.get(organization) ?? 0;
      if (count >= max) return undefined;
      open.set(organization, count + 1);
      let isIn = true;
      return () => {
        if (!isIn) return;
        isIn = false;
        const left = (open.get(organization) ?? 1) - 1;
        if (left > 0) open.set(organization, left);
        else open.delete(organization);
      };
    },
  };
}

/** @throws Refusal 429 */
export function enterRoom(room: StreamRoom, organization: string): () => void {
  const leave = room.enter(organization);
  if (leave) return leave;
  const message = `the organization has ${room.max} event streams open; close one first`;
  throw new Refusal(429, message);
}
